# Every target sets up what it needs in $(VENV): nothing but Python 3.11 or later, and make, has to be there before.
#   make test PYTEST_ARGS="-k rnea"     a part of the tests
#   make test PYTHON=python3.13         another interpreter (a new .venv only: `make clean` first)

PYTHON      ?= python3
VENV        ?= .venv
PIP_ARGS    ?= -qq
PYTEST_ARGS ?=
FILE        ?= arm

BIN     := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check --no-compile $(PIP_ARGS)
PYTEST  := $(BIN)/python -m pytest -q -n 2 --dist worksteal

export MPLBACKEND ?= Agg
# Keep pyright from asking the network whether there is a newer one.
export PYRIGHT_PYTHON_IGNORE_WARNINGS ?= 1
# Keep mkdocs-material from announcing its successor on every build.
export NO_MKDOCS_2_WARNING ?= 1
# The tests start many interpreters, and each would compile the library again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo view test test-all bench docs pictures lint ruff pyright clean
.NOTPARALLEL:

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.installed-plot ## the bundled arm reaches, is let go and swings: a report, a plot, a replay
	@$(BIN)/knuckle demo

view: $(VENV)/.installed-view ## a robot in the viewer: `make view FILE=robot.urdf` for one of yours
	@$(BIN)/knuckle view $(FILE)

# Assertions are plain, since to rewrite those of all tests takes a while in a fresh clone; `pytest --lf` explains what failed.
test: ruff ## everything CI runs: lint, docs, tests but the slow ones
	@$(call beside-checks,$(PYTEST) --assert=plain $(PYTEST_ARGS))

test-all: ruff $(VENV)/.installed-browser $(VENV)/.installed-notebook $(VENV)/.installed-autodiff $(VENV)/.installed-cluster ## the same with the slow tests
	@$(call beside-checks,$(PYTEST) -m "" $(PYTEST_ARGS))

# pyright and mkdocs leave a core free: they run beside the tests, and what they say comes after them.
define beside-checks
	log=$(VENV)/checks.log; $(MAKE) --no-print-directory pyright docs > $$log 2>&1 & \
	echo "== pytest"; $(1); tests=$$?; wait $$!; checks=$$?; cat $$log; exit $$((tests + checks))
endef

lint: ruff pyright ## ruff and pyright, nothing rewritten

ruff: $(VENV)/.installed-test
	@echo "== ruff check"
	@$(BIN)/ruff check --no-fix .
	@echo "== ruff format"
	@$(BIN)/ruff format --check .

pyright: $(VENV)/.installed-test
	@echo "== pyright"
	@$(BIN)/pyright --pythonpath $(BIN)/python

docs: $(VENV)/.installed-docs ## the documentation, into site/
	@echo "== mkdocs"
	@$(BIN)/mkdocs build --strict --quiet

pictures: $(VENV)/.installed-test $(VENV)/.installed-browser $(VENV)/.installed-autodiff ## the pictures of the gallery, in a Chromium that is installed
	@$(BIN)/python docs/gallery/make_pictures.py

bench: $(VENV)/.installed-test ## the benchmarks
	@$(BIN)/python benchmarks/run.py
	@$(BIN)/python benchmarks/derivatives.py --out benchmarks/results
	@$(BIN)/python benchmarks/loops.py --out benchmarks/results

clean: ## remove the .venv and everything built
	rm -rf $(VENV) site dist build .pytest_cache .ruff_cache .hypothesis
	find src tests docs -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp per extra; a change of pyproject.toml installs again. Bytecode comes when a module is first imported.
$(VENV)/.installed-%: pyproject.toml | $(VENV)/.created
	@echo "== installing knuckle[$*] into $(VENV)"
	@$(INSTALL) -e '.[$*]'
	@touch $@

# Those of the tests and of the docs together: pip takes as long for both as for one.
$(VENV)/.installed-test: pyproject.toml | $(VENV)/.created
	@echo "== installing knuckle[test,docs] into $(VENV)"
	@$(INSTALL) -e '.[test,docs]'
	@touch $(VENV)/.installed-docs $@

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	    f"knuckle needs Python 3.11 or later; $(PYTHON) is {sys.version.split()[0]}. Try: make PYTHON=python3.12")'
	@echo "== creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@
