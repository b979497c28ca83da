#!/usr/bin/env bash
# Formats the C sources with the pinned clang-format; --check only tells.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t files < <(git ls-files --cached --others --exclude-standard '*.c' '*.h')
if [[ ${1-} == --check ]]; then
    exec build/env/tools/bin/clang-format --dry-run --Werror "${files[@]}"
fi
exec build/env/tools/bin/clang-format -i "${files[@]}"
