# Each target first makes .venv and installs what it needs; nothing is done twice when nothing changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DATA ?= $(WAYFOLD_DATA)
JOBS ?= 2
SEEDS ?= 1
MINUTES ?= 60

.PHONY: demo test test-long soak test-view screenshots test-data bench results results-page docs pictures fmt clean

# What a user needs, which is all that the demo needs; then what the checks need on top.
$(VENV)/usable: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Wayfold needs Python 3.11 or newer, not " + sys.version.split()[0] + ": make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	@echo "installing Wayfold and what it needs into $(VENV), which takes a minute or so ..."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/installed: $(VENV)/usable
	@echo "installing what the checks need into $(VENV) ..."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,docs,peers,view]'
	@touch $@

demo: $(VENV)/usable
	$(BIN)/wayfold demo --out out/demo

# The kernel tests run first, with array bounds checks and a cache of their own; the whole suite ends the run. Random
# worlds are the same in every run, so that it passes or fails alike for everybody; fresh ones are in `make test-long`.
test: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	NUMBA_BOUNDSCHECK=1 $(BIN)/python tests/prewarm.py $(JOBS)
	NUMBA_BOUNDSCHECK=1 $(BIN)/pytest -q -m "kernels and not data and not long" -n $(JOBS) --dist loadfile
	$(BIN)/python tests/prewarm.py $(JOBS)
	$(BIN)/pytest -m "not data and not long" -n $(JOBS) --dist loadfile

# Long property runs, such as a thousand edits of a world under four threads, then every property test with SEEDS
# different seeds; none of them needs data. A failure prints its seed and the command that repeats it.
test-long: $(VENV)/installed
	$(BIN)/pytest -m "long and not data" -n $(JOBS) --dist loadfile
	$(BIN)/python tests/run_seeds.py $(SEEDS) --jobs $(JOBS)

# Edits and questions on every map for MINUTES minutes, with the memory of the process sampled; fails where it grows, or
# where a map is not at the end what it is when it is built anew.
soak: $(VENV)/installed
	$(BIN)/python -m tests.soak $(MINUTES)

# The viewer in a headless Chromium: WAYFOLD_CHROMIUM, one on the PATH, or Playwright's own.
test-view: $(VENV)/installed
	$(BIN)/pytest tests/view

# Pictures of the viewer for the documentation, in the same browser.
screenshots: $(VENV)/installed
	$(BIN)/python -m tests.view.screenshots docs/images

test-data: $(VENV)/installed
	@test -n "$(DATA)" || { echo "name the folder of real data: make test-data DATA=DIR (or set WAYFOLD_DATA)"; exit 2; }
	WAYFOLD_DATA="$(DATA)" $(BIN)/pytest -m "data or long"

# Without real data what can be made is measured; the report says what is missing.
bench: $(VENV)/installed
	$(BIN)/python -m benchmarks papers $(if $(DATA),--data "$(DATA)") --out report
	$(BIN)/python -m benchmarks peers $(if $(DATA),--data "$(DATA)") --out report

# The pages of results in the docs are the report of a full run: up to two hours.
results: $(VENV)/installed
	@test -n "$(DATA)" || { echo "name the folder of real data: make results DATA=DIR (or set WAYFOLD_DATA)"; exit 2; }
	$(BIN)/python -m benchmarks papers --full --data "$(DATA)" --out report
	$(BIN)/python -m benchmarks peers --rounds 5 --data "$(DATA)" --out report
	$(MAKE) results-page

# Copies the report that lies in report/ into the docs.
results-page:
	rm -f docs/images/results_*.png docs/results/*.md
	for plot in report/*.png; do cp "$$plot" "docs/images/results_$${plot##*/}"; done
	for page in report/*.md; do sed 's#](\([^)]*\.png\))#](../images/results_\1)#' "$$page" > "docs/results/$${page##*/}"; done

# The pages, in out/site; open out/site/index.html.
docs: $(VENV)/installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# Draws docs/images again; levels only with DATA=DIR.
pictures: $(VENV)/installed
	PYTHONPATH=. $(BIN)/python docs/pictures.py $(if $(DATA),--data "$(DATA)")

fmt: $(VENV)/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .numba out report build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
