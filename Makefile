# Every target is described by the comment after its name: make help.
MAKEFLAGS += --no-print-directory
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
TOOL := go tool -modfile=tools/go.mod
FUZZTIME ?= 10s
# with trimmed paths, all checkouts of a machine share what was compiled
export GOFLAGS += -trimpath
# as a release is built, so that tests, linters and the program share what was compiled; the race detector needs C
export CGO_ENABLED := 0
# go vet looks at all packages in check, and nobody debugs a test's binary
LEAN := -vet=off -ldflags=-w
SEEDS ?= 100000
MUTANTS ?= 300
OF ?= internal/
NEAR ?= 4
TIME ?= 12h
# what was tried of the same tree is not tried again
RESULTS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/nexus-mutants.jsonl
# shows what go test shows, the slowest tests, and what was skipped
SUM := go run ./internal/sys/testenv/testsum
# files of tests are in memory, where that is possible
MEMORY := .ci/memory
# one package more than processors: some wait most of their time
PACKAGES := $(shell expr $$(nproc) + 1)
# what make test tests
OVER ?= ./...
# packages whose tests are mostly of processes, git and sandboxes: raced by night only
RACED_AT_NIGHT = work/attempt work/gate work/gate/mutate work/dependencies work/tool/codenavigation sys/worktree sys/sandbox sys/git face/cli/bench face/cli/check
# packages that start goroutines or share something
SHARING = $$(grep -rlE --include='*.go' '^[[:space:]]*go [a-zA-Z(]|^([[:space:]]|import )*"sync(/atomic)?"$$|(context|time)\.AfterFunc\(' internal cmd | grep -vE '/testdata/|^internal/oracle/' | xargs -n1 dirname | sort -u)
RACED = $$(comm -23 <(printf '%s\n' $(SHARING)) <(printf 'internal/%s\n' $(RACED_AT_NIGHT) | sort))
# packages with tests that do less under the race detector, or that make race leaves out
FULL = $$(grep -rlE --include='*_test.go' 'testenv\.(SkipRaced|IsRaceEnabled)' internal cmd | xargs -n1 dirname | sort -u)
# runs the tests that call a function of testenv
RUN_CALLERS = @callers() { grep -r --include='*_test.go' "$$@" testenv.$(1) internal cmd; }; \
	tests=$$(callers -h -B4 | sed -n 's/^func \(Test[A-Za-z]*\)(.*/^\1$$/p' | paste -sd'|'); \
	$(MEMORY) go test -json $(LEAN) -p $(PACKAGES) -timeout 90m -run "$$tests" $$(callers -l | xargs -n1 dirname | sort -u | sed 's|^|./|') | $(SUM)

.PHONY: agents generate demo genesis build test toolchains browser changed check static race rest oracle fmt vet lint vuln docs pictures bench fuzz nightly mutants mutate deps help

demo: ## show the whole way, offline: plan, parallel work, repair, landing; it ends with the addresses to open
	@echo "Compiles nexus, which takes about two minutes the first time. Then a run of about a minute is shown."
	@go build -v -o bin/ ./cmd/nexus 2>&1 | awk '/[ :]/ { print; next } ++n % 50 == 0 { print "  " n " packages compiled"; fflush() }'
	@bin/nexus demo $(filter genesis,$(MAKECMDGOALS))

genesis: demo ## show how a project begins from a sentence, offline: make demo -- genesis

build: ## build bin/nexus and bin/nexus-bench, stripped, as a release has them
	go build -ldflags='-s -w' -o bin/ ./cmd/nexus ./cmd/nexus-bench

test: ## run all tests that need no more than Go and git
	@echo "Compiles the packages with their tests, which takes minutes the first time, and runs them. Each package prints a line when it ends, a summary follows."
	@$(MEMORY) go test -json $(LEAN) -p $(PACKAGES) -timeout 90m $(OVER) | $(SUM)

toolchains: export NEXUS_TOOLCHAINS := 1
toolchains: ## run what make test leaves out: real toolchains of other languages, hanging and lying tests, the whole demo
	$(call RUN_CALLERS,NeedToolchains)
	@.ci/changed --passed $@

browser: export NEXUS_BROWSER := 1
browser: ## run what make test leaves out: stories of the web pages in a browser
	$(call RUN_CALLERS,NeedBrowser)
	@.ci/changed --passed $@

changed: ## run those of toolchains and browser whose subject changed since they last passed
	@for group in toolchains browser; do \
		code=0; .ci/changed $$group || code=$$?; \
		[ $$code -eq 1 ] || $(MAKE) $$group; done

check: static race rest changed oracle mutate ## everything that a change must pass

static: fmt vet lint vuln ## what is known without running much

race: export CGO_ENABLED := 1
race: ## run tests under the race detector, in any order and on the disk: those of packages that share something and start few processes
	@go test -json $(LEAN) -race -shuffle=on -p $(PACKAGES) -timeout 60m $$(printf './%s ' $(RACED)) | $(SUM)

rest: ## run the tests that make race leaves out, or does not run in full
	@$(MAKE) test OVER="$$(comm -23 <(go list -f '{{.Dir}}' ./... | sed "s#^$$PWD/#./#" | sort) \
		<(comm -23 <(printf './%s\n' $(RACED) | sort) <(printf './%s\n' $(FULL) | sort)) | paste -sd' ')"

oracle: ## hold what Nexus does by itself against the libraries it does not link: a module of its own, internal/oracle
	cd internal/oracle && go test $(LEAN) ./...

fmt: ## name files that are not formatted
	@unformatted=$$($(TOOL) gofumpt -l cmd internal); [ -z "$$unformatted" ] || { echo "run gofumpt -w on:"; echo "$$unformatted"; exit 1; }

vet: ## look for mistakes, for code in the wrong package, and for docs that are not up to date
	go vet ./...
	go test -count=1 ./internal/archtest
	go test -count=1 -run '^TestDocs' ./internal/face/cli

# What the program may hold though only tests call it: harnesses, what pages of the
# documentation are made from, and what keeps keys out of texts.
ONLY_TESTS = /(eventtapetest|llmtest|sim)/|Config\.Format$$|/config/schema\.go|func: (FileSchema|ChangeDefaultsForTest|ServersWithQuirks|IsParentCommand)$$

lint: ## run the linters, and name functions that nothing calls
	$(TOOL) golangci-lint run
	@dead=$$($(TOOL) deadcode -test ./...); [ -z "$$dead" ] || { echo "$$dead"; exit 1; }
	@dead=$$($(TOOL) deadcode ./cmd/... | sed -E '\#$(ONLY_TESTS)#d'); [ -z "$$dead" ] || { echo "only tests call:"; echo "$$dead"; exit 1; }

vuln: ## look for known vulnerabilities; soft where the database is out of reach
	@out=$$($(TOOL) govulncheck ./... 2>&1 && $(TOOL) govulncheck -C internal/oracle -test ./... 2>&1) && echo "$$out" || { echo "$$out"; grep -qE 'vuln\.go\.dev|fetching vulnerabilities' <<<"$$out" && echo 'vuln: skipped, database out of reach'; }

generate: PAGES = internal/face/web/page
generate: ## write the code of the web pages, and bundle their scripts and style
	$(TOOL) templ generate -log-level error -path $(PAGES)
	gofmt -w $(PAGES)/*_templ.go
	cd tools && go run ./islands $(abspath $(PAGES))

docs: ## write docs/ from the code
	go test -count=1 -run '^TestDocs' ./internal/face/cli -args -update

pictures: ## record the pictures of the documentation from the demo, with tmux and Chromium
	@.ci/pictures

bench: ## run the benchmarks
	go test -run '^$$' -bench . -benchmem ./...

fuzz: ## fuzz each parser for FUZZTIME
	@for p in $$(go list ./...); do for f in $$(go test -list '^Fuzz' $$p | grep '^Fuzz' || true); do go test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$p; done; done

nightly: fuzz ## what takes hours: fuzzing, SEEDS simulated runs, kills, planted bugs
	NEXUS_NIGHTLY=1 NEXUS_TOOLCHAINS=1 NEXUS_BROWSER=1 go test -count=1 -timeout 6h ./...
	CGO_ENABLED=1 NEXUS_NIGHTLY=1 go test -count=1 -race -timeout 6h -run '^TestScripts$$' ./cmd/nexus
	CGO_ENABLED=1 go test -count=1 -race -shuffle=on -timeout 6h $$(printf './%s ' $(SHARING))
	go run ./cmd/nexus-bench chaos --n $(SEEDS)

mutants: ## plant MUTANTS faults, one at a time in a copy, in files that begin with OF, for at most TIME; say how many the tests near them notice
	@NEXUS_MUTANTS=$(MUTANTS) NEXUS_MUTANTS_OF=$(OF) NEXUS_MUTANTS_TIME=$(TIME) NEXUS_MUTANTS_SEED=$(SEED) NEXUS_MUTANTS_FILE=$(RESULTS) \
		NEXUS_MUTANTS_BASE=$(BASE) NEXUS_MUTANTS_LEAST=$(LEAST) NEXUS_MUTANTS_NEAR=$(NEAR) \
		go test -count=1 -timeout 0 -v -run '^TestMutants$$' ./internal/work/gate/mutate

mutate: MUTANTS = 8
mutate: TIME = 5m
mutate: LEAST = 50
mutate: ## the same with few faults, in lines that are new since BASE (what origin/main has, or else HEAD~1); fail where too few are noticed
	@base=$(BASE); [ -n "$$base" ] || base=$$(git merge-base HEAD origin/main 2>/dev/null || true); \
	[ -n "$(BASE)" ] || [ -n "$$base" -a "$$base" != "$$(git rev-parse HEAD)" ] || base=HEAD~1; \
	git rev-parse -q --verify "$$base^{commit}" >/dev/null || { echo "mutate: skipped, there is no commit $$base"; exit 0; }; \
	echo "mutate: faults in lines that are new since $$base"; \
	$(MAKE) mutants BASE="$$base" MUTANTS=$(MUTANTS) TIME=$(TIME) LEAST=$(LEAST)

deps: ## install what tests need on Debian: git, bubblewrap, ripgrep, gopls, a C compiler, and the tools of the stacks that samples are judged with
	@.ci/deps

agents: ## install the agent programs of other makers that make toolchains tries, about 3 GB; make deps installs two of them
	@.ci/agents/install

help: ## name the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-10s %s\n", $$1, $$2 }' Makefile
