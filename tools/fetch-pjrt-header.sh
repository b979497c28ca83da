#!/usr/bin/env bash
# Fetches a published pjrt_c_api.h and the headers of its extensions, to check src/abi/ against.
# usage: fetch-pjrt-header.sh OUT     then compile with -I OUT, #include "xla/pjrt/c/pjrt_c_api.h"
#
# By hand only: the headers (API 0.90) come out of a wheel of 274 MB.
set -euo pipefail

if [[ $# != 1 || $1 == -* ]]; then
    sed -n '2,5s/^# \{0,1\}//p' "$0"
    exit 2
fi
out=$1
wheel=tensorflow-cpu==2.21.0
sum=b5cdbd8289178466b9e695985fe065fe57c9b57f816c8e02b5f6bcf61c7aec4b

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
echo "fetch-pjrt-header: downloading $wheel"
# Any of its wheels will do, so name one instead of asking for one that fits this machine's Python.
python3 -m venv "$scratch/env"
"$scratch/env/bin/pip" download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --python-version 3.11 --platform manylinux_2_27_x86_64 --dest "$scratch" "$wheel"

mkdir -p "$out"
python3 - "$scratch"/*.whl "$out" <<'END'
import pathlib, re, sys, zipfile

wheel, out = sys.argv[1:]
wanted = re.compile(r"tensorflow/include/(xla/pjrt/(?:c|extensions/\w+)/pjrt_c_api(?:_\w+_extension)?\.h)")
archive = zipfile.ZipFile(wheel)
for name in archive.namelist():
    if match := wanted.fullmatch(name):
        path = pathlib.Path(out, match[1])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(archive.read(name))
END
echo "$sum  $out/xla/pjrt/c/pjrt_c_api.h" | sha256sum --check --quiet
echo "fetch-pjrt-header: $(find "$out" -name '*.h' | wc -l) headers in $out"
