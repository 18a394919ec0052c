package app

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/internal/chart"
)

// The size of a figure that fits into a column of a paper: 3.3 inches wide.
const (
	columnWidth  = 320
	columnHeight = 224
)

// isPDF reports whether a figure's file is to be a PDF, by its ending.
func isPDF(path string) bool { return strings.EqualFold(filepath.Ext(path), ".pdf") }

// checkFigure returns an error for a file whose ending is of another format than SVG and PDF.
func checkFigure(flag, path string) error {
	switch ending := strings.ToLower(filepath.Ext(path)); ending {
	case "", ".svg", ".pdf":
		return nil
	default:
		return usageErrorf("--%s %s: found the ending %s, expected .svg or .pdf", flag, path, ending)
	}
}

// writeFigure writes a plot as PDF if the ending of the path is .pdf, and otherwise as SVG.
func writeFigure(flag, path string, p *chart.Plot) error {
	write := p.Write
	if isPDF(path) {
		write = p.WritePDF
	}
	if err := atomicfile.Write(path, write); err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	return nil
}
