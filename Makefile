# The two commands of the README, and what else a developer calls. All set-up happens here: Debian
# packages from tools/packages.txt, Python environments under build/env, builds under build/.
SHELL := /bin/bash
ENV   := build/env

.PHONY: all setup demo test check bench soak truth fuzz format tidy install wheel clean

all: setup
	cmake --preset release >/dev/null
	cmake --build --preset release

setup:
	@tools/setup-debian.sh

$(ENV)/%/.complete: tools/requirements/%.txt tools/python-env.sh | setup
	@tools/python-env.sh $* $(ENV)/$*

# The main job on the default set-up.
demo: all $(ENV)/jax/.complete
	@tools/demo.sh

# Every lane; the closing line counts tests.
test: setup
	@tools/test.sh

bench: all $(ENV)/jax/.complete
	@tools/bench.sh

# The long form of the soak test (the short one is part of `make test`).
soak: setup
	@tools/soak.sh

# How often explain names a planted cause and its line: CASES generated programs (2,000) with a fresh seed, JOBS (2) at a time. Hours.
truth: all $(ENV)/jax/.complete $(ENV)/torchtpu/.complete
	@python3 tests/truth/run.py build/release $(ENV) --cases $(or $(CASES),2000) --jobs $(or $(JOBS),2) --keep build/truth

# Long fuzzing of every target; FUZZ_SECONDS each.
fuzz: setup
	@tools/fuzz.sh

format: $(ENV)/tools/.complete
	@tools/format.sh

tidy: $(ENV)/tools/.complete
	@tools/tidy.sh --analyze

wheel: setup $(ENV)/tools/.complete
	$(ENV)/tools/bin/python -m pip wheel --no-deps --no-build-isolation -w build/wheel .

clean:
	rm -rf build
