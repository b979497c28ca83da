#!/usr/bin/env bash
# Every test lane, each with its own build. At the end: how long each took, and the tests of all lanes counted.
# usage: test.sh [LANE…]     lanes: style dev asan tsan fuzz e2e (default: these), aarch64
#
# A lane that can't run is a failure, never a skip: the environments it needs are made here.
set -euo pipefail
cd "$(dirname "$0")/.."

lanes=("$@")
[[ ${#lanes[@]} -gt 0 ]] || lanes=(style dev asan tsan fuzz e2e)
jobs=$(nproc)
environments=(tools jax torchtpu torchxla cuda s3 viewers pytest)
passed=0 failed=0 skipped=0 times=""
mkdir -p build

say() { printf '\n== %s (%s s)\n' "$*" "$SECONDS"; }

count() { # count GOOD: one more test
    if [[ $1 == 0 ]]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

check() { # check NAME COMMAND…: a test that is a command
    local name=$1 rc=0
    shift
    "$@" || rc=$?
    [[ $rc == 0 ]] || echo "FAILED $name"
    count $rc
}

build() { # build PRESET [cmake arguments]
    local preset=$1
    shift
    cmake --preset "$preset" "$@" >"build/$preset-configure.log" || { cat "build/$preset-configure.log"; return 1; }
    cmake --build --preset "$preset" -j "$jobs" >"build/$preset-build.log" || { cat "build/$preset-build.log"; return 1; }
    built=$SECONDS
}

cross() { # cross MACHINE: the whole tree for another machine, as releases are built
    local machine=$1 made=$PWD/build/$1
    tools/zig-toolchain.sh "$machine" "$made-tools" || return
    CC=$made-tools/cc BUILD_CC=gcc AR=$made-tools/ar RANLIB=$made-tools/ranlib HOST=$machine-linux-gnu \
        tools/build-libraries.sh "$made-libraries" -DCMAKE_TOOLCHAIN_FILE="$made-tools/toolchain.cmake" || return
    cmake -S . -B "$made" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_TOOLCHAIN_FILE="$made-tools/toolchain.cmake" \
        -DSTET_LIBRARIES="$made-libraries" -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O2 -DNDEBUG" -DSTET_FAULT_INJECTION=ON \
        -DCMAKE_EXE_LINKER_FLAGS=-Wl,--build-id=sha1 -DCMAKE_SHARED_LINKER_FLAGS=-Wl,--build-id=sha1 \
        >"$made-configure.log" || { cat "$made-configure.log"; return 1; }
    cmake --build "$made" -j "$jobs" >"$made-build.log" || { tail -n 60 "$made-build.log"; return 1; }
    built=$SECONDS
}

tests() { # tests PRESET [ctest arguments]: adds what CTest ran to the counts
    local preset=$1 junit=$PWD/build/$1-tests.xml total bad left rc=0
    shift
    ctest --test-dir "build/$preset" -j "$jobs" --output-on-failure --no-tests=error \
        --output-junit "$junit" "$@" || rc=$?
    total=$(sed -n 's/^[[:space:]]*tests="\([0-9]*\)"$/\1/p' "$junit" | head -n 1)
    bad=$(sed -n 's/^[[:space:]]*failures="\([0-9]*\)"$/\1/p' "$junit" | head -n 1)
    left=$(sed -n 's/^[[:space:]]*skipped="\([0-9]*\)"$/\1/p' "$junit" | head -n 1)
    # A test that could not be started is neither passed nor failed in CTest's file.
    [[ $rc == 0 || $bad -gt 0 ]] || { failed=$((failed + 1)); left=$((left - 1)); }
    [[ -n $total && $total -gt 0 ]] || { echo "FAILED $preset: no test ran"; failed=$((failed + 1)); return; }
    passed=$((passed + total - bad - left)) failed=$((failed + bad)) skipped=$((skipped + left))
}

# What the last lane needs is downloaded while the first ones build; it reports what went wrong.
if [[ " ${lanes[*]} " == *" e2e "* ]]; then
    (for env in "${environments[@]}"; do tools/python-env.sh "$env" "build/env/$env" || true; done) \
        >build/environments.log 2>&1 &
    trap 'kill $! 2>/dev/null || true' EXIT
fi

for lane in "${lanes[@]}"; do
    say "$lane"
    began=$SECONDS built=$SECONDS
    case $lane in
    style)
        tools/python-env.sh tools build/env/tools
        check includes tools/check-includes
        check names tools/check-names
        check figures tools/house-figures --check
        check docs tools/check-docs
        check format tools/format.sh --check
        check tidy tools/tidy.sh
        ;;
    dev | asan)
        [[ $lane == dev ]] || tools/python-env.sh jax build/env/jax # trains on the sanitized backend
        if build "$lane"; then tests "$lane" -LE e2e; else count 1; fi
        ;;
    tsan)
        tools/python-env.sh jax build/env/jax
        if build tsan; then tests tsan -L threads; else count 1; fi
        ;;
    fuzz) # clang's build of everything; replays the corpora
        if build fuzz; then tests fuzz -L fuzz; else count 1; fi
        ;;
    e2e)
        for env in "${environments[@]}"; do
            tools/python-env.sh "$env" "build/env/$env"
        done
        if build release -DSTET_E2E=ON; then tests release -L e2e; else count 1; fi
        ;;
    aarch64) # the unit tests and the layer in other processes, under qemu
        if cross aarch64; then tests aarch64 -R '^(unit|intercept)\.'; else count 1; fi
        ;;
    *)
        echo "test.sh: no lane $lane" >&2
        exit 2
        ;;
    esac
    times+=$(printf '%-8s build %4d s, tests %4d s' "$lane" $((built - began)) $((SECONDS - built)))$'\n'
done

printf '\n%s' "$times"
echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed == 0 && $passed -gt 0 ]]
