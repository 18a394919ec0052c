# The commands of CONTRIBUTING.md. Everything they need comes from go.mod and
# tools/go.mod.
GO ?= go
TOOL = $(GO) tool -modfile=tools/go.mod

.PHONY: build test lint race noasm bench generate cover

build: ## one static binary, ./listwise
	CGO_ENABLED=0 $(GO) build -trimpath -o listwise ./cmd/listwise

test:
	$(GO) test ./...

lint:
	$(TOOL) golangci-lint run ./...

race: ## the packages with goroutines
	$(GO) test -race -short ./dataset/... ./measure ./internal/block ./internal/input ./internal/parallel ./stats ./boost ./objective ./tree ./optimize ./loss/... ./model ./explain ./internal/datareport ./train ./method ./tune ./auto ./internal/runs ./internal/cli

noasm: ## the portable code in place of the assembly
	$(GO) test -tags noasm ./...

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

generate: ## the assembly of internal/kernel
	$(GO) generate ./internal/kernel

cover:
	$(GO) test -coverprofile=out.cover ./... && $(GO) tool cover -func=out.cover | tail -n 1
