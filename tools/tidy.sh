#!/usr/bin/env bash
# clang-tidy over the C sources of src/, by the compile commands of the release build.
# usage: tidy.sh [--analyze] [FILE…]     only these files of src/
#
# Without --analyze, the checks of the style lane: 36 s of processor time. With it, clang's static
# analyzer too, which takes many times as long.
set -euo pipefail
cd "$(dirname "$0")/.."
checks=(--checks='-clang-analyzer-*')
if [[ ${1:-} == --analyze ]]; then
    checks=()
    shift
fi
cmake --preset release >/dev/null
find "${@:-src}" -name '*.c' -print0 |
    xargs -0 -P "$(nproc)" -n 4 build/env/tools/bin/clang-tidy --quiet -p build/release "${checks[@]}"
