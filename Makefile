# Everything happens in the project's own virtual environment, which is made on
# first use. `make help` lists the targets.

VENV ?= .venv
PYTHON ?= $(shell command -v python3.11 || command -v python3)
DATA ?=

# Without TensorFlow's greetings; its errors still show.
export TF_CPP_MIN_LOG_LEVEL ?= 2

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
# Each step uses all processors by itself.
.NOTPARALLEL:

IN_VENV := $(VENV)/bin
# Quiet but for errors.
PIP := $(IN_VENV)/python -m pip -qq --disable-pip-version-check
# Each process takes neighbors, which share fixtures, and none is left with the last ones.
# One more than there are processors: tests wait for processes, deadlines and disks.
IN_PARALLEL := --numprocesses=$(shell expr $$(nproc) + 1) --dist=worksteal
STEP = @printf '== %s\n'

LIBRARY := recursive_tf/ops/_recursive_tf.so
LIBRARY_INPUTS := setup.py tools/cc_build.py tools/cc_units.py tools/library_build.py \
  tools/package_copy.py \
  recursive_tf/cc/sources.bzl \
  $(shell find recursive_tf -name '*.cc' -o -name '*.h')
CC_FILES = $$(find recursive_tf tests -name '*.cc' -o -name '*.h')
CC_UNITS = $$(find recursive_tf tests -name '*.cc')
TF_INCLUDE = $$($(IN_VENV)/python -c 'import sys; sys.path.insert(0, "tools"); \
  import cc_build; print(cc_build.tensorflow_folder() / "include")')

##@ Use

.PHONY: train
train: $(VENV)/.models build ## Train the TreeLSTM; DATA=folder for other data
	$(STEP) "training"
	@$(IN_VENV)/python -m models.tree_lstm $(if $(DATA),--data $(DATA))

.PHONY: build
build: $(LIBRARY) ## Build the C++ library in place

.PHONY: wheel
wheel: $(VENV)/.wheel build ## Build a manylinux wheel into dist/
	$(STEP) "building the wheel"
	@rm -rf build/wheel
	@$(PIP) wheel --no-build-isolation --no-deps --wheel-dir build/wheel .
	@$(IN_VENV)/python tools/repair_wheel.py build/wheel/*.whl dist

##@ Check

.PHONY: test
test: static core-tests sanitize-short library-tests $(VENV)/.dev build ## Every check and every test
	$(STEP) "Python tests"
	@$(IN_VENV)/python -m pytest $(IN_PARALLEL)

.PHONY: quick
quick: $(VENV)/.dev build ## In a minute: lint, the tests of what changed, one of each other file
	$(STEP) "lint"
	@$(IN_VENV)/ruff check --quiet .
	$(STEP) "quick Python tests"
	@$(IN_VENV)/python -m pytest -q $(IN_PARALLEL) --quick tests

.PHONY: check
check: static core-tests library-tests $(VENV)/.dev build ## The same without the slow tests: before every commit
	$(STEP) "fast Python tests"
	@$(IN_VENV)/python -m pytest $(IN_PARALLEL) -m "not slow and not stress"

.PHONY: static
static: $(VENV)/.dev
	$(STEP) "format"
	@$(IN_VENV)/ruff format --quiet --check . || { echo "run: make format"; exit 1; }
	@$(IN_VENV)/clang-format --dry-run --Werror $(CC_FILES) || { echo "run: make format"; exit 1; }
	$(STEP) "lint"
	@$(IN_VENV)/ruff check --quiet .
	$(STEP) "spelling"
	@$(IN_VENV)/codespell recursive_tf tests models examples benchmarks docs tools *.md
	$(STEP) "types"
	@$(IN_VENV)/mypy
	$(STEP) "layers"
	@$(IN_VENV)/lint-imports --no-logo
	@$(IN_VENV)/python tools/check_layers.py
	$(STEP) "lengths"
	@$(IN_VENV)/python tools/check_lengths.py

.PHONY: core-tests
core-tests: $(VENV)/.build ## The C++ core's tests alone
	$(STEP) "C++ core tests"
	@$(IN_VENV)/python tools/core_tests.py

.PHONY: library-tests
library-tests: $(VENV)/.build build ## The C++ tests of what knows TensorFlow alone
	$(STEP) "C++ library tests"
	@$(IN_VENV)/python tools/library_tests.py

.PHONY: sanitize
sanitize: $(VENV)/.build ## The C++ core's tests under ASan, UBSan and TSan
	$(STEP) "C++ core tests under AddressSanitizer and UndefinedBehaviorSanitizer"
	@$(IN_VENV)/python tools/core_tests.py --sanitize=address
	$(STEP) "C++ core tests under ThreadSanitizer"
	@$(IN_VENV)/python tools/core_tests.py --sanitize=thread

.PHONY: sanitize-short
sanitize-short: $(VENV)/.build
	$(STEP) "C++ core tests of memory under AddressSanitizer and UndefinedBehaviorSanitizer"
	@$(IN_VENV)/python tools/core_tests.py --sanitize=address --short
	$(STEP) "C++ core tests of threads under ThreadSanitizer"
	@$(IN_VENV)/python tools/core_tests.py --sanitize=thread --short

.PHONY: sanitize-python
sanitize-python: $(VENV)/.dev ## Python tests of the library under TSan, then ASan
	$(STEP) "Python tests under ThreadSanitizer"
	@$(IN_VENV)/python tools/sanitize_python.py thread
	$(STEP) "Python tests under AddressSanitizer"
	@$(IN_VENV)/python tools/sanitize_python.py address

.PHONY: soak
soak: $(VENV)/.dev build ## The long forms of the tests of reliability: six hours; PARTS="a b" of them
	@$(IN_VENV)/python tools/soak.py $(if $(PARTS),--parts $(PARTS))

.PHONY: coverage
coverage: $(VENV)/.build ## The lines of the C++ core that its tests run
	$(STEP) "C++ core coverage"
	@$(IN_VENV)/python tools/core_tests.py --coverage

.PHONY: tidy
tidy: $(VENV)/.dev ## clang-tidy, with Clang's thread-safety analysis
	$(STEP) "clang-tidy"
	@include=$(TF_INCLUDE); printf '%s\n' $(CC_UNITS) | xargs -P "$$(nproc)" -I{} \
	  $(IN_VENV)/clang-tidy --quiet {} -- -std=c++17 -DNDEBUG -I. -isystem "$$include"

.PHONY: bazel
bazel: $(VENV)/.dev ## Build with Bazel, and test what it built
	$(STEP) "Bazel"
	@$(IN_VENV)/python tools/bazel_tests.py

##@ Change

.PHONY: format
format: $(VENV)/.dev ## Format Python and C++
	@$(IN_VENV)/ruff check --quiet --fix-only .
	@$(IN_VENV)/ruff format --quiet .
	@$(IN_VENV)/clang-format -i $(CC_FILES)

.PHONY: docs
docs: pages site ## Write what is generated of the documentation, and build its site into build/site

.PHONY: pages
pages: $(VENV)/.dev build ## Write the tables of docs/language.md and vertex.md, and tests/README.md
	@$(IN_VENV)/python -m tools.language_table
	@$(IN_VENV)/python -m tools.vertex_lines
	@$(IN_VENV)/python -m tools.test_map

.PHONY: site
site: $(VENV)/.docs ## Build the site alone
	$(STEP) "site"
	@NO_MKDOCS_2_WARNING=1 $(IN_VENV)/python -m mkdocs build --quiet --strict
	@echo "build/site/index.html"

.PHONY: lock
lock: ## Write requirements-dev.txt: all that a developer installs, with hashes
	$(STEP) "locking"
	@$(PYTHON) -m venv build/lock
	@build/lock/bin/python -m pip -qq install uv
	@build/lock/bin/uv pip compile pyproject.toml --quiet --all-extras --universal \
	  --python-version 3.10 --generate-hashes --custom-compile-command "make lock" \
	  --output-file requirements-dev.txt

.PHONY: clean
clean: ## Remove what was built; the environment stays
	rm -rf build dist *.egg-info bazel-*
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	rm -f $(LIBRARY) recursive_tf/ops/_build_info.py

.PHONY: help
help: ## This list
	@awk -F ':.*## ' '/^##@/ { printf "%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

# The environment, in the order of what is in it. The library is built before the
# project is installed, so that its progress shows; pip then finds it built.

$(VENV)/.build: pyproject.toml tools/make_venv.py
	$(STEP) "virtual environment"
	@test -n "$(PYTHON)" || { echo "There is no python3: apt-get install python3 python3-venv"; exit 1; }
	@$(PYTHON) tools/make_venv.py $(VENV)
	@touch $@

$(LIBRARY): $(LIBRARY_INPUTS) $(VENV)/.build
	$(STEP) "C++ library (a minute or two if all of it is new)"
	@$(IN_VENV)/python setup.py --quiet build_ext --inplace

$(VENV)/.models: $(VENV)/.build | $(LIBRARY)
	$(STEP) "installing recursive_tf and what its models use"
	@$(PIP) install --no-build-isolation --editable '.[models]'
	@touch $@

$(VENV)/.wheel: $(VENV)/.build | $(LIBRARY)
	$(STEP) "installing what builds the wheel"
	@$(PIP) install --no-build-isolation --editable '.[wheel]'
	@touch $@

$(VENV)/.docs: $(VENV)/.build | $(LIBRARY)
	$(STEP) "installing what builds the site"
	@$(PIP) install --no-build-isolation --editable '.[docs]'
	@touch $@

$(VENV)/.dev: $(VENV)/.build | $(LIBRARY)
	$(STEP) "installing recursive_tf and what checks it"
	@$(PIP) install --no-build-isolation --editable '.[dev]'
	@touch $(VENV)/.models $@
