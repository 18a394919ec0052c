module github.com/listwise/listwise/python

go 1.26.0

require github.com/listwise/listwise v0.0.0

replace github.com/listwise/listwise => ../

// What the main module needs, this one needs: build.py takes that from there.
