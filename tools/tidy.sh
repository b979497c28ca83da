#!/usr/bin/env bash
# clang-tidy over the C sources of src/, by the compile commands of the release build.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset release >/dev/null
cmake --build --preset release >/dev/null
find src -name '*.c' -print0 |
    xargs -0 -P "$(nproc)" -n 4 build/env/tools/bin/clang-tidy --quiet -p build/release
