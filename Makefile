# make run   install into .venv and run the main job
# make test  everything that CI checks
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml constraints.txt CMakeLists.txt $(wildcard native/*)
INSTALL := PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: run test lint clean
run: $(VENV)/.run
	$(BIN)/taylorank --version
	$(BIN)/taylorank run

# Two processes; torch with one thread in each, for its threads wait for work by spinning.
test: export TAYLORANK_REQUIRE_NATIVE := 1
test: export OMP_NUM_THREADS := 1
test: $(VENV)/.test lint
	$(BIN)/python -m pytest -n 2

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: $(BIN)/python $(SOURCES)
	$(INSTALL) --editable ".[report]"
	touch $@

$(VENV)/.test: $(BIN)/python $(SOURCES)
	TAYLORANK_REQUIRE_NATIVE=1 $(INSTALL) --editable ".[report,torch,tune,test]"
	touch $@ $(VENV)/.run

clean:
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
