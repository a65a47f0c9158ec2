# `make help` lists the goals.  Needs git, make and python3 (3.11 or later, with venv); all else comes from PyPI,
# in the versions of requirements-dev.lock, into the virtual environment .venv next to this file (or VENV=elsewhere).
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PIP := -m pip -qq --disable-pip-version-check
READY := $(VENV)/.ready
DEMO := .cache/demo
CPU := 'Intel(R) OpenCL'
WEB := build/web
PORT := 8000
HSGEN := $(PY) -m hsgen
COMPILE := .cache/lock/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header \
  --no-annotate --no-emit-index-url --no-emit-find-links
HEADED := .cache/lock/bin/python .ci/headed

.DEFAULT_GOAL := help
.PHONY: help setup demo web test check prove format lock docs-targets pages words wheel schemas release clean webgpu-cases selection-cases device-check device-bench

help: ## list the goals
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' Makefile

setup: $(READY) ## make .venv with hsgen and all that its tests need (done once)

demo: $(READY) ## generate and validate the sorts of one GPU; compare those for this machine's CPU with numpy
	@echo "1. Sorts for the GPUs of the target intel-gen8, as C and OpenCL, into $(DEMO)"
	$(HSGEN) generate -t intel-gen8 --api opencl -o $(DEMO)
	@printf '\n%s\n' "2. Their results, compared with numpy on this machine's CPU, which stands in for such a GPU (its speed says nothing)"
	$(HSGEN) validate -t intel-gen8 --device $(CPU)
	@printf '\n%s\n' "3. The target for this CPU, cpu, on all its cores through OpenCL, compared with numpy on one core"
	$(HSGEN) bench -t cpu --device $(CPU) --sizes 2^12,2^16,2^20 --against numpy

web: $(READY) ## generate the sorts of docs/demo into build/web and serve the page at http://localhost:8000
	rm -rf $(WEB)
	mkdir -p $(WEB)
	cp docs/demo/* $(WEB)
	for value in none v4; do $(HSGEN) generate -t webgpu -t webgpu-cpu --api webgpu --key u32 --key i32 --key f32 \
	  --value $$value --order both --feature device-count -o $(WEB)/hs >/dev/null || exit; done
	@echo "the page is at http://localhost:$(PORT) (make web PORT=8001 for another port; Ctrl-C ends the server)"
	$(PY) -m http.server --bind localhost --directory $(WEB) $(PORT)

test: $(READY) ## run the tests, up to four modules at a time (make test ARGS="-k plan" for some)
	$(PY) -m pytest -n auto --maxprocesses 4 --dist loadscope --no-loadscope-reorder --max-worker-restart=0 $(ARGS)

check: $(READY) ## formatting, lint, types, tests, and whether generated/ is up to date
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	$(PY) -m pytest -n auto --maxprocesses 4 --dist loadscope --no-loadscope-reorder --max-worker-restart=0 $(ARGS)
	$(HSGEN) check

prove: ## run the proofs whose tools are installed (spin and gcc; z3-solver; cbmc), and refuse their mutants (about ten minutes)
	$(PYTHON) proofs/run.py $(ARGS)

format: $(READY) ## format the Python code
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

docs-targets: $(READY) ## write the table of targets into docs/reference/targets.md
	@mkdir -p .cache
	$(HSGEN) targets --markdown > .cache/targets.md
	sed -i -e '/^<!-- targets -->$$/,/^<!-- end of targets -->$$/{//!d}' -e '/^<!-- targets -->$$/r .cache/targets.md' docs/reference/targets.md

pages: $(READY) ## write the tables of docs/results/gpus.md, docs/results/estimates.md and docs/decisions/README.md
	$(PY) tests/doc_pages.py

words: $(READY) ## write the table of words into docs/reference/dialect.md
	@mkdir -p .cache
	$(PY) -c 'from hsgen.dialects import reference; from hsgen.emit.templates import environment; import sys; \
	  sys.stdout.write(reference.table(environment()))' > .cache/words.md
	sed -i -e '/^<!-- words -->$$/,/^<!-- end of words -->$$/{//!d}' -e '/^<!-- words -->$$/r .cache/words.md' docs/reference/dialect.md

wheel: $(READY) ## build a wheel into dist/
	$(PY) -m build --wheel --no-isolation

schemas: $(READY) ## write the JSON Schemas of docs/reference/schemas
	$(PY) tests/json_schemas.py

release: $(READY) ## build, check and list in dist/ all that a release holds; uploads and tags nothing
	@$(PY) $(PIP) install --require-hashes -r .ci/release.lock
	$(PY) .ci/release.py

# The newest versions that pyproject.toml allows, for all platforms and all versions of Python that it allows, with the
# hashes of all their files; pip then installs nothing else.  What .ci/run adds is locked apart.
lock: pyproject.toml ## update requirements-dev.lock and .ci/*.lock
	@$(call usable_python)
	rm -rf .cache/lock
	$(PYTHON) -m venv .cache/lock
	.cache/lock/bin/python $(PIP) install uv
	$(COMPILE) pyproject.toml --extra cpu-device --extra cuda --extra isa --extra wgsl --extra webgpu --extra plot --extra vulkan --extra dev | $(HEADED) requirements-dev.lock
	printf '%s\n' nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-runtime==13.0.96 \
	  nvidia-cuda-cccl==13.0.85 | $(COMPILE) - | $(HEADED) .ci/nvcc.lock
	echo ziglang==0.17.0 | $(COMPILE) - | $(HEADED) .ci/ziglang.lock
	echo z3-solver==5.4.1.0 | $(COMPILE) - | $(HEADED) .ci/z3.lock
	echo compushady==0.17.5 | $(COMPILE) - | $(HEADED) .ci/dxc.lock
	$(COMPILE) pyproject.toml --extra release -c requirements-dev.lock | $(HEADED) .ci/release.lock
	rm -rf .cache/lock

webgpu-cases: $(READY) ## validate WebGPU on lavapipe in more than 100000 cases at each subgroup width (about an hour)
	$(PY) tests/device/webgpu_cases.py $(ARGS)

selection-cases: $(READY) ## validate selections in more than 100000 cases on a CPU runtime, and on lavapipe at three widths (about an hour)
	$(PY) tests/device/selection_cases.py $(ARGS)

device-check: ## on a machine with an NVIDIA GPU, without network: validate CUDA, Vulkan, OpenCL and arrays of Python, run sanitizers
	bash tests/device/nvidia.sh check

device-bench: ## there too: compare throughput with CUB, PyTorch and CuPy
	bash tests/device/nvidia.sh bench

clean: ## remove everything that these goals made, .venv included
	rm -rf .venv .cache dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml requirements-dev.lock
	@$(call usable_python)
	@case "$(abspath $(VENV))" in *' '*) echo "make: Intel's OpenCL runtime cannot be loaded from a path with a space;" \
	  "name a folder for the environment: make VENV=/a/path/without" >&2; exit 1;; esac
	@echo "setting up $(VENV) (about 500 MB to download, 1.7 GB on disk, once)"
	@$(PYTHON) -m venv $(VENV)
	@$(PY) $(PIP) install --require-hashes -r requirements-dev.lock
	@$(PY) $(PIP) install --no-deps --no-build-isolation -e .
	@touch $(READY)

define usable_python
if ! $(PYTHON) -c '' 2>/dev/null; then \
  echo "make: $(PYTHON) does not run; install Python 3.11 or later, or name it: make PYTHON=python3.12" >&2; exit 1; \
elif ! $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then \
  echo "make: $$($(PYTHON) --version 2>&1) is too old; hsgen needs 3.11 or later: make PYTHON=python3.12" >&2; exit 1; \
elif ! $(PYTHON) -c 'import venv, ensurepip' 2>/dev/null; then \
  echo "make: $(PYTHON) has no venv module; install it (Debian and Ubuntu: apt-get install python3-venv)" >&2; exit 1; \
fi
endef
