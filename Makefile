# Every target sets up what it needs; what is done already is not done again.
PY := .venv/bin/python
PREFIX ?= /usr/local

.PHONY: build setup demo docs test conformance conformance-numpy conformance-torch conformance-kernels test-aarch64 bench lint format wheel wheel-aarch64 sdist release matrix install sanitize sanitize-threads sanitize-python fuzz faults clean

build: ## the libraries and the package, importable with PYTHONPATH=build/tree
	@tools/setup.sh build
	@tools/build.sh build

setup: ## Debian packages and .venv for all targets
	@tools/setup.sh build test demo docs lint

demo: ## the programs in examples/, compared with NumPy; writes demo/report.html
	@tools/setup.sh build demo
	@tools/build.sh build
	@PYTHONPATH=build/tree $(PY) -m treadle.demo $(ARGS)

docs: ## the documentation as a site, build/site/index.html; a warning ends it
	@tools/setup.sh build demo docs
	@tools/build.sh build
	@PYTHONPATH=$(CURDIR)/build/tree $(PY) tools/website $(ARGS)

test: ## C tests, then the Python tests, among them the site's build
	@tools/setup.sh build test demo docs
	@tools/build.sh build
	@tools/test.sh build

conformance: ## the public test suite of the Python array API standard; needs git and the network
	@tools/setup.sh build conformance
	@tools/build.sh build
	@tools/conformance.sh build $(ARGS)

conformance-numpy: ## NumPy's own tests under python -m treadle, beside plain Python
	@tools/setup.sh build test
	@tools/build.sh build
	@tools/conformance_numpy.sh build $(ARGS)

conformance-torch: ## PyTorch's own samples of its operators on treadle.torch; needs the network for PyTorch
	@tools/setup.sh build conformance-torch
	@tools/build.sh build
	@tools/conformance_torch.sh build $(ARGS)

conformance-kernels: ## random kernels on all engines beside CPython's account, and in CUDA C++, a minute each; ARGS="--seconds 3600 --seed 7"
	@tools/setup.sh build test
	@tools/build.sh build
	@PYTHONPATH=build/tree $(PY) tests/python/kernel_generator.py $(ARGS)
	@PYTHONPATH=build/tree $(PY) tests/python/cuda_generator.py $(ARGS)

test-aarch64: ## C tests, a program for each face and some Python tests for aarch64, emulated; some 20 minutes
	@tools/setup.sh build
	@tools/aarch64/test.sh

bench: ## treadle beside its peers; writes benchmarks/results and the tables of docs/speed-table.md and README
	@tools/setup.sh build bench
	@tools/build.sh build
	@PYTHONPATH=build/tree .bench-venv/bin/python benchmarks/run.py $(ARGS)
	@$(PY) tools/speed_table.py

lint: ## layout, checkers, types, layers, licences, the contents and the symbols of a wheel
	@tools/setup.sh build demo lint wheel
	@tools/build.sh build
	@tools/lint.sh build

format: ## lays the C sources out as `make lint` wants them
	@tools/setup.sh build lint
	@clang-format-19 -i $$(find src tests examples tools -name '*.c')

wheel: ## dist/treadle-*.whl, for systems with the C library of tools/old_glibc.py or a newer one
	@tools/setup.sh build wheel
	@tools/wheel.sh

wheel-aarch64: ## dist/aarch64/treadle-*.whl, cross-compiled here
	@tools/setup.sh build wheel aarch64
	@tools/aarch64/wheel.sh

sdist: ## dist/treadle-*.tar.gz, built from once
	@tools/setup.sh build wheel
	@tools/sdist.sh

release: ## dist/release: wheel and sdist from what is committed, checked, with checksums; uploads nothing
	@tools/setup.sh build wheel release
	@tools/release.sh

matrix: wheel ## the wheel on other systems, for docs/install.md; needs root
	@tools/setup.sh matrix
	@$(PY) tools/matrix.py $(ARGS)

install: ## library, header and pkg-config file for C programs, into PREFIX (/usr/local)
	@tools/setup.sh build
	@tools/build.sh build
	@tools/install.sh build "$(PREFIX)"

sanitize: ## C tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@tools/setup.sh build
	@tools/build.sh build-sanitize -Dbuildtype=debug -Doptimization=1 -Db_sanitize=address,undefined -Db_lundef=false -Dpython=false
	@tools/ctest.sh build-sanitize

sanitize-threads: ## C tests under ThreadSanitizer; some 10 minutes
	@tools/setup.sh build
	@tools/build.sh build-threads -Dbuildtype=debug -Doptimization=1 -Db_sanitize=thread -Db_lundef=false -Dpython=false -Dcub=false -Dwerror=false
	@TSAN_OPTIONS=suppressions=$(CURDIR)/tests/threads.txt:die_after_fork=0:history_size=4 tools/ctest.sh build-threads --timeout-multiplier 10 --no-suite ir

sanitize-python: ## the extension with the same sanitizers, and Python tests run with it; ARGS="exchange torch_save" names some
	@tools/setup.sh build test
	@tools/sanitize_python.sh build-sanitize-python $(ARGS)

fuzz: ## readers of bytes and texts under libFuzzer, each for SECONDS=30; ARGS="ir cxx" names some
	@tools/setup.sh build fuzz
	@tools/fuzz.sh build-fuzz $(or $(SECONDS),30) $(ARGS)

faults: ## programs in which requests for memory, threads and files fail, under the sanitizers; ARGS="--each 100 --only orders"
	@tools/setup.sh build test
	@tools/faults.sh build-faults $(ARGS)

clean:
	rm -rf build build-sanitize build-threads build-sanitize-python build-fuzz build-faults build-faults-lib build-aarch64 dist
