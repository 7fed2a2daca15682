# Headgate. `make help` lists the targets. Two of them do all the work: demo and test.
SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

CACHE ?= $(or $(HEADGATE_CACHE),/var/cache/headgate)
export HEADGATE_CACHE := $(CACHE)
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
GOTEST := go test -race -timeout 15m
CONTROLLER_GEN := go tool -modfile=hack/tools/controller-gen/go.mod controller-gen
GOLANGCI := $(CACHE)/tools/golangci-lint-kube-api-linter
BINARIES := manager gateway fakeprovider kubectl-headgate

##@ Main

.PHONY: help
help: ## Show this help.
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## Bring up a real cluster, install Headgate, run two tenants with and without it, show the difference.
	hack/demo up

.PHONY: demo-down
demo-down: ## Remove everything the demo made.
	hack/demo down

.PHONY: test
test: browser kube-assets sdks ## Unit, integration (real API server) and data-plane tests, with the race detector.
	$(GOTEST) ./...
	$(GOTEST) -tags tokenizer ./internal/gateway/tokens ./internal/gateway/dialect/request

##@ Tests

.PHONY: test-unit
test-unit: browser ## Tests that need no API server; one opens a browser.
	$(GOTEST) ./api/... $$(go list ./internal/... | grep -v -E '/(controller|webhook|certs|coordinator|manager|schema|redisstore|testing)(/|$$)')

.PHONY: test-integration
test-integration: kube-assets ## Tests against a real kube-apiserver and etcd.
	$(GOTEST) ./internal/controller/... ./internal/webhook/... ./internal/certs/... ./internal/coordinator/... ./internal/manager/... ./internal/schema/... ./internal/budgetstore/redisstore/... ./internal/gateway/deferred/redisstore/... ./internal/testing/... ./test/api/...

.PHONY: test-dataplane
test-dataplane: ## The real gateway against the fake provider, with real SDKs.
	$(GOTEST) ./test/dataplane/... ./test/providers/...

.PHONY: test-exits
test-exits: ## Every way a call can end, and what nobody means well sends, with the real gateway.
	$(GOTEST) ./test/exits/... ./test/hostile/...

.PHONY: test-sdks
test-sdks: sdks ## Real SDKs, npm and Go, through the real gateway; docs/sdks.md says what came of it.
	$(GOTEST) ./test/sdks/...

.PHONY: test-e2e
test-e2e: ## Headgate on the real node: injection, plan, reports, status, a killed leader.
	hack/e2e -skip '^TestKillsUnderLoad$$'

.PHONY: kills
kills: ## Kill each part of the real node under load, and see what is lost. Not part of CI, for its length.
	hack/e2e -run '^TestKillsUnderLoad$$'

.PHONY: golden
golden: ## Rewrite the golden files from what the code does; read the diff.
	go test ./internal/policy ./internal/inject ./internal/status ./internal/explain ./internal/simulate/html ./test/scenarios ./test/faults -update

FUZZTIME ?= 10s
.PHONY: fuzz
fuzz: ## Each fuzz target for FUZZTIME (default 10s).
	hack/fuzz $(FUZZTIME)

.PHONY: fuzz-ci
fuzz-ci: ## Every fuzz target for 30 seconds, six at once: five minutes, after the builds.
	hack/fuzz ci

FUZZLONG ?= 1h
.PHONY: fuzz-long
fuzz-long: ## Each fuzz target for FUZZLONG (default 1h), as many at once as processors, whatever is found; a table at the end.
	KEEP_GOING=1 hack/fuzz $(FUZZLONG)

.PHONY: explore
explore: ## Property tests and random histories from a fresh seed, EXPLORE=10 times as long; SEED=N goes from there. Not part of CI.
	hack/explore

.PHONY: bench
bench: ## Benchmarks, and the gateway beside a bare reverse proxy in one run.
	hack/bench

.PHONY: vulncheck
vulncheck: ## Look up the modules of the binaries in the Go vulnerability database.
	hack/vulncheck

.PHONY: soak
soak: ## A long run on the real node, SOAK=30m (default); SOAK_NODE=0 without a node. Not part of CI.
	hack/soak

.PHONY: sharing
sharing: ## What fleets of real gateways send and use, SHARING=20 seconds a measurement. Not part of CI.
	HEADGATE_SHARING_SECONDS=$${SHARING:-20} go test -count=1 -timeout 30m -p 1 -v ./test/sharing ./test/budgetstore ./test/agreement

.PHONY: scale
scale: kube-assets ## How many gateways one manager serves: 100, 1,000, 5,000 in ten minutes; see docs/scale.md.
	hack/scale

.PHONY: cover
cover: browser kube-assets sdks ## Coverage by package.
	mkdir -p bin && go test -coverprofile=bin/cover.out ./... && go tool cover -func=bin/cover.out | tail -n 1

##@ Code

.PHONY: generate
generate: manifests ## Regenerate everything that is generated.
	hack/packages generate
	$(CONTROLLER_GEN) object:headerFile=hack/boilerplate.go.txt paths=./api/...
	hack/generate-wire.sh
	hack/generate-docs

.PHONY: manifests
manifests: ## Regenerate the CRD.
	$(CONTROLLER_GEN) crd paths=./api/... output:crd:artifacts:config=config/crd/bases

.PHONY: fmt
fmt: $(GOLANGCI) ## Format.
	$(GOLANGCI) fmt ./...

.PHONY: lint
lint: $(GOLANGCI) ## Lint, with the rules for Kubernetes APIs.
	$(GOLANGCI) run --allow-parallel-runners ./...

.PHONY: lint-fix
lint-fix: $(GOLANGCI) ## Lint and mend what can be mended.
	$(GOLANGCI) run --fix ./...

.PHONY: verify
verify: generate lint ## Regenerate, lint, vet; fail on any difference.
	go vet ./...
	hack/verify-clean

##@ Build and install

.PHONY: build
build: ## Build the binaries into bin/.
	CGO_ENABLED=0 go build -trimpath -ldflags "$(LDFLAGS)" -o bin/ $(addprefix ./cmd/,$(BINARIES))

.PHONY: plugin
plugin: ## Build bin/kubectl-headgate; on the PATH it is "kubectl headgate".
	CGO_ENABLED=0 go build -trimpath -ldflags "$(LDFLAGS)" -o bin/ ./cmd/kubectl-headgate

.PHONY: image
image: ## Build image tarballs into bin/images, without Docker.
	hack/images

.PHONY: kube-assets
kube-assets: ## Build kube-apiserver, etcd and kubectl once, kept in the cache.
	hack/packages tests
	hack/cluster assets tests

.PHONY: browser
browser: ## Install the browser that tests of the simulator's page open.
	hack/packages browser

.PHONY: sdks
sdks: ## Install the npm SDKs that the tests run, kept in the cache.
	hack/sdks

.PHONY: deploy
deploy: ## Install into the cluster of KUBECONFIG: MANAGER_IMAGE=… GATEWAY_IMAGE=…
	hack/deploy "$(MANAGER_IMAGE)" "$(GATEWAY_IMAGE)"

.PHONY: undeploy
undeploy: ## Remove Headgate from the cluster of KUBECONFIG; webhooks first.
	hack/undeploy

.PHONY: install
install: ## Install only the CRD into the cluster of KUBECONFIG.
	kubectl apply -k config/crd

$(GOLANGCI):
	@echo "building golangci-lint with kube-api-linter (once; minutes on few cores)"
	mkdir -p $(CACHE)/tools
	cd hack/tools/golangci-lint && CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o $@ sigs.k8s.io/kube-api-linter/cmd/golangci-lint-kube-api-linter
