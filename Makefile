# The commands of CONTRIBUTING.md. Everything they need comes from go.mod and
# tools/go.mod.
GO ?= go
TOOL = $(GO) tool -modfile=tools/go.mod

.PHONY: build test lint race noasm properties fuzz bench generate cover release python

build: ## one static binary, ./listwise
	CGO_ENABLED=0 $(GO) build -trimpath -o listwise ./cmd/listwise

test:
	$(GO) test $(TESTFLAGS) ./...

lint:
	$(TOOL) golangci-lint run ./...
	python3 python/build.py lint
	cd beam && $$($(GO) tool -n -modfile=../tools/go.mod golangci-lint) run --config ../.golangci.yml ./...

# A program with the race detector sleeps for a second at its end, unless it is told not to: the
# scripts run hundreds.
race: export GORACE = atexit_sleep_ms=0

# The commands that do several things at once; the rest of their tests would take minutes more and
# run code whose own tests are above.
RACE_OF_CLI = Progress|CtrlC|Interrupt|Signal|Locked|Kill|Changed
RACE_OF_SCRIPTS = TestScripts/^(auto|compare|eval_text|fuse|report|runs|score|tables|train|train_trees|tune)$$

# Races do not depend on how much is drawn: a fifth of the draws.
RACE = $(GO) test -exec '$(CURDIR)/tools/draws.sh -rapid.seed=1,-rapid.checks=20' -race -short -timeout 20m

race: ## the packages with goroutines
	$(RACE) ./dataset/... ./eval/measure ./internal/block ./dataset/internal/input ./internal/parallel ./eval/stats ./learn/boost ./learn/objective ./learn/tree ./learn/optimize ./learn/loss/... ./model ./model/explain ./serve/... ./app/datareport ./learn/train ./learn/method ./tune ./tune/auto ./app/runs
	$(RACE) -run '$(RACE_OF_CLI)' ./app
	$(RACE) -run '$(RACE_OF_SCRIPTS)' ./app

noasm: ## the portable code in place of the assembly, and what computes with it; the assembly without AVX-512
	$(GO) test $(TESTFLAGS) -tags noavx512 ./internal/kernel ./learn/loss/logrank ./model/scorer
	$(GO) test $(TESTFLAGS) -tags noasm ./learn/boost ./internal/kernel ./internal/logspace ./internal/parallel ./learn/loss/... ./learn/objective ./learn/optimize ./model/scorer ./learn/tree ./model
	$(GO) test $(TESTFLAGS) -tags noasm -short ./learn/train ./learn/method
	$(GO) test $(TESTFLAGS) -tags noasm -run '$(RACE_OF_SCRIPTS)' ./app

properties: ## the tests of properties, with new draws, ten times as many
	$(GO) test -count=1 -exec '$(CURDIR)/tools/draws.sh -rapid.checks=1000' ./...

fuzz: ## every fuzz target for FUZZTIME, 10 s each
	tools/fuzz.sh $(or $(FUZZTIME),10s)

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

generate: ## the assembly of internal/kernel
	$(GO) generate ./internal/kernel

cover:
	$(GO) test -coverprofile=out.cover ./... && $(GO) tool cover -func=out.cover | tail -n 1

release: ## archives, packages and checksums of a commit, in ./dist
	cd tools/release && $(GO) run . -out ../../dist

python: ## wheels of the Python package, in python/dist
	python3 python/build.py wheel
