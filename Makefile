# make run                      install into .venv and run the main job
# make test                     everything that CI checks
# make claims                   the papers' statements with their verdicts
# make bench NAME=als           a benchmark or study; without NAME the list of them
# make reproduce TABLE=ml-1m    a table of the papers, run again
# make attack MINUTES=30        odd input and odd moments for so long, and what came of it; NAME=kills: one attack
# make sanitize MINUTES=2        native kernels under ASan, UBSan and TSan: their tests and their attack
# make pages                    write the pages of docs that are made from records; NAME=claims: one of them
# make docs                     the site, in build/site; warnings are errors, links are checked
# make look                     pages of the site in Chromium, two widths, light and dark: none too wide; pictures in build/looks
# make wheel                    dist/*.whl and dist/*.tar.gz
# make smoke                    wheel and source installed in an empty venv of every Python there is, and the README's lines run
# make follow COMMITS="a b"     speed, memory and quality of commits, small sizes
# make imports                  draw docs/architecture/imports.svg (needs graphviz)
# More options: make claims ARGS="--json claims.json"
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml constraints.txt CMakeLists.txt $(wildcard native/*)
PIP := PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(BIN)/python -m pip --quiet --disable-pip-version-check
INSTALL := $(PIP) install

# Real data that lie beside the checkout.
ifneq ($(wildcard ../shared/data),)
export TAYLORANK_DATA ?= $(abspath ../shared/data)
endif

.PHONY: run test lint claims bench reproduce pages attack sanitize docs look wheel smoke follow imports clean
run: $(VENV)/.run
	$(BIN)/taylorank --version
	$(BIN)/taylorank run

# Two processes; torch with one thread in each, for its threads wait for work by spinning. Tests of a group stay in one.
test: export TAYLORANK_REQUIRE_NATIVE := 1
test: export OMP_NUM_THREADS := 1
test: $(VENV)/.test lint
	$(BIN)/python -m pytest -n 2 --dist loadgroup

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

claims bench reproduce pages: $(VENV)/.test
	$(BIN)/python -m research.$@ $(NAME) $(TABLE) $(ARGS)

MINUTES ?= 2
attack: $(VENV)/.test
	$(BIN)/python -m research.attack $(NAME) --minutes $(MINUTES) $(ARGS)

sanitize: $(VENV)/.test
	$(BIN)/python -m research.attack.sanitize $(NAME) --minutes $(MINUTES) $(ARGS)

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --jobs auto docs build/site
	$(BIN)/python docs/_extensions/check_links.py build/site
	$(BIN)/python docs/_extensions/check_reference.py build/site

look: docs
	$(BIN)/python docs/_extensions/look.py build/site build/looks

wheel:
	.ci/wheels

smoke: $(VENV)/.test wheel
	$(BIN)/python -m research.bench first-steps dist --sdist $(ARGS)

follow: $(VENV)/.test
	$(BIN)/python -m research.bench commits $(COMMITS) --json research/records/bench/commits.json $(ARGS)

STYLE := node [fontname="Helvetica" shape=box style="rounded,filled" fillcolor="\#eef3f8" color="\#5b7a99"]; edge [color="\#5b7a99"]
imports: $(VENV)/.test
	$(BIN)/import-linter drawgraph taylorank | sed 's/node \[fontname=helvetica\]/$(STYLE)/' | tred | dot -Tsvg -o docs/architecture/imports.svg

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: $(BIN)/python $(SOURCES)
	$(INSTALL) --editable ".[report]"
	touch $@

$(VENV)/.docs: $(VENV)/.test
	$(INSTALL) --editable ".[report,torch,serve,docs]"
	touch $@

$(VENV)/.test: $(BIN)/python $(SOURCES)
	TAYLORANK_REQUIRE_NATIVE=1 $(INSTALL) --editable ".[report,torch,tune,serve,spark,test]"
	touch $@ $(VENV)/.run

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
