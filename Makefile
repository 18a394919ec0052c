# The commands of CONTRIBUTING.md. Everything they need comes from go.mod and
# tools/go.mod.
GO ?= go
TOOL = $(GO) tool -modfile=tools/go.mod

export PATH := $(CURDIR)/tools:$(PATH)

.PHONY: build test checks checked staticcheck lint race race-commands kernels noasm properties fuzz bench generate cover release python

build: ## one static binary, ./listwise
	CGO_ENABLED=0 $(GO) build -trimpath -o listwise ./cmd/listwise

test:
	$(GO) test $(TESTFLAGS) ./...

checks: ## all of .ci/run and .ci/checks, which writes .ci/checked
	CHECKS=all .ci/run

checked: ## the checks whose paths have changed, which writes .ci/checked
	.ci/checks record

staticcheck:
	$(TOOL) staticcheck ./...

lint: ## golangci-lint, which takes minutes to build
	$(TOOL) golangci-lint run ./...
	python3 python/build.py lint
	cd beam && $$($(GO) tool -n -modfile=../tools/go.mod golangci-lint) run --config ../.golangci.yml ./...

# A program with the race detector sleeps for a second at its end, unless it is told not to: the
# scripts run hundreds.
race race-commands: export GORACE = atexit_sleep_ms=0

# The commands that do several things at once; the rest of their tests would take minutes more and
# run code whose own tests are in race.
RACE_OF_CLI = Progress|CtrlC|Interrupt|Signal|Locked|Kill|Changed
RACE_OF_SCRIPTS = TestScripts/^(auto|compare|eval_text|fuse|report|runs|score|tables|train|train_trees|tune)$$

# Races do not depend on how much is drawn.
RACE = $(GO) test -vet=off -exec 'draws.sh -rapid.seed=1,-rapid.checks=20' -race -short -timeout 30m

race: ## the packages with goroutines
	$(RACE) ./click/... ./dataset/... ./eval/measure ./eval/stats ./internal/block ./internal/parallel ./learn/boost ./learn/loss/... ./learn/objective ./learn/optimize ./learn/train ./learn/tree ./model ./model/explain ./serve/... ./tune/... ./app/datareport

race-commands: ## the methods and the commands that do several things at once
	$(RACE) ./learn/method
	$(RACE) -run '$(RACE_OF_CLI)' ./app
	$(RACE) -run '$(RACE_OF_SCRIPTS)' ./app

kernels: ## the portable code in place of the assembly, and the assembly without AVX-512, where they are
	$(GO) test $(TESTFLAGS) -tags noavx512 ./internal/kernel
	$(GO) test $(TESTFLAGS) -tags noasm ./internal/kernel

noasm: kernels ## and with what computes with them
	$(GO) vet -tags noasm ./...
	$(GO) test $(TESTFLAGS) -tags noavx512 ./learn/loss/logrank ./model/scorer
	$(GO) test $(TESTFLAGS) -tags noasm ./learn/boost ./internal/logspace ./internal/parallel ./learn/loss/... ./learn/objective ./learn/optimize ./model/scorer ./learn/tree ./model
	$(GO) test $(TESTFLAGS) -tags noasm -short ./learn/train ./learn/method
	$(GO) test $(TESTFLAGS) -tags noasm -run '$(RACE_OF_SCRIPTS)' ./app

properties: ## the tests of properties, with new draws, ten times as many
	$(GO) test -count=1 -exec 'draws.sh -rapid.checks=1000' ./...

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
