# The two commands of the README, and what else a developer calls. All set-up happens here: Debian
# packages from tools/packages.txt, Python environments under build/env, builds under build/.
SHELL := /bin/bash
ENV   := build/env

.PHONY: all product demo test test-aarch64 bench soak truth fit fuzz format tidy release reproduce clean
.PHONY: setup-build setup-bench setup-all setup-release

all: setup-bench
	cmake --preset release >/dev/null
	cmake --build --preset release

# The product alone: what the demo runs.
product: setup-build
	@echo "building Stet (about two minutes on two processors)"
	@cmake --preset product >/dev/null
	@cmake --build --preset product

setup-build:
	@tools/setup-debian.sh build
setup-bench:
	@tools/setup-debian.sh build bench
setup-all:
	@tools/setup-debian.sh build bench test
setup-release:
	@tools/setup-debian.sh build release

$(ENV)/%/.complete: tools/requirements/%.txt tools/python-env.sh | setup-build
	@tools/python-env.sh $* $(ENV)/$*

# The main job on the default set-up.
demo: product $(ENV)/demo/.complete
	@tools/demo.sh

# Every lane; the closing line counts tests.
test: setup-all
	@tools/test.sh

# The tree cross-compiled for aarch64; its unit tests run under qemu.
test-aarch64: setup-release
	@tools/test.sh aarch64

bench: all $(ENV)/jax/.complete
	@tools/bench.sh

# The long form of the soak test (the short one is part of `make test`).
soak: setup-all
	@tools/soak.sh

# Every variant of every trap, then how often explain names a planted cause and its line: CASES generated programs (2,000)
# with a fresh seed, JOBS (2) at a time. Hours.
truth: all $(ENV)/jax/.complete $(ENV)/torchtpu/.complete $(ENV)/torchxla/.complete
	@python3 tests/traps/run.py build/release --jobs $(or $(JOBS),2)
	@python3 tests/truth/written/run.py build/release $(ENV)
	@python3 tests/truth/run.py build/release $(ENV) --cases $(or $(CASES),2000) --jobs $(or $(JOBS),2) --keep build/truth

# The long form of the tests of `stet fit`: networks in three shardings, PyTorch/XLA, TorchTPU, every generation of TPUs.
fit: all $(ENV)/jax/.complete $(ENV)/torchtpu/.complete $(ENV)/torchxla/.complete $(ENV)/cuda/.complete
	@python3 tests/fit/long.py build/release $(ENV)

# Long fuzzing of every target; FUZZ_SECONDS each.
fuzz: setup-all
	@tools/fuzz.sh

format: $(ENV)/tools/.complete
	@tools/format.sh

tidy: $(ENV)/tools/.complete
	@tools/tidy.sh --analyze

# Wheel, .deb, source distribution, SBOM and checksums under dist/, for MACHINES (x86_64).
release: setup-release
	@tools/release.sh $(MACHINES)

# The release twice, compared byte by byte; dist/ gets it.
reproduce: setup-release
	@tools/reproduce.sh $(MACHINES)

clean:
	rm -rf build
