#!/usr/bin/env bash
# Makes everything that a release publishes, under dist/: a wheel and a .deb for each machine, the source
# distribution, the SBOM and SHA256SUMS.
# usage: release.sh [MACHINE…]     machines: x86_64 (default), aarch64
#
# Everything is built with the zig of PyPI against glibc 2.28, from the sources that tools/third-party.txt pins.
# tools/reproduce.sh makes it twice and compares the bytes. STET_RELEASE_ENV is another place for the
# Python environment, STET_LIBRARIES_DIR for the built libraries.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD

if [[ ${1-} == -* ]]; then
    sed -n '2,8s/^# \{0,1\}//p' "$0"
    exit 2
fi
machines=("$@")
[[ $# -gt 0 ]] || machines=(x86_64)
say() { echo "release: $* ($SECONDS s)"; }

version=$(sed -n 's/^project(stet VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
# Every date in an archive is the commit's.
if [[ -z ${SOURCE_DATE_EPOCH-} ]]; then
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
fi
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022

env=${STET_RELEASE_ENV:-$root/build/env/release}
[[ -n ${STET_RELEASE_ENV-} ]] || tools/python-env.sh release "$env"
export PATH=$env/bin:$PATH
rm -rf dist
mkdir -p dist build/dist

wheel() { # wheel MACHINE: dist/stet_cli-…-manylinux_2_28_MACHINE.whl
    local machine=$1 tools=$root/build/dist/$1/tools raw=$root/build/dist/$1/raw libraries=${STET_LIBRARIES_DIR:-$root/build/dist/libraries}/$1
    STET_RELEASE_ENV=$env "$root/tools/zig-toolchain.sh" "$machine" "$tools"
    say "$machine: libraries"
    CC=$tools/cc BUILD_CC=${BUILD_CC:-gcc} AR=$tools/ar RANLIB=$tools/ranlib HOST=$machine-linux-gnu \
        tools/build-libraries.sh "$libraries" -DCMAKE_TOOLCHAIN_FILE="$tools/toolchain.cmake"
    say "$machine: wheel"
    rm -rf "$raw"
    mkdir -p "$raw"
    # Stripped by the linker, without debug information from the start. The build id is part of store keys.
    _PYTHON_HOST_PLATFORM=linux-$machine CMAKE_ARGS="-DCMAKE_TOOLCHAIN_FILE=$tools/toolchain.cmake
        -DSTET_LIBRARIES=$libraries -DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2\ -DNDEBUG
        -DCMAKE_EXE_LINKER_FLAGS=-s\ -Wl,--build-id=sha1 -DCMAKE_SHARED_LINKER_FLAGS=-s\ -Wl,--build-id=sha1" \
        "$env/bin/python" -c "
import sys
from scikit_build_core.build import build_wheel
print(build_wheel('$raw', {'build-dir': '$root/build/dist/$machine/build'}))" >"build/dist/$machine.log" 2>&1 ||
        { tail -n 40 "build/dist/$machine.log" >&2; return 1; }
    # `--plat` takes the tags of this machine alone, so auditwheel chooses: the oldest glibc that has all symbols.
    auditwheel repair --plat auto --only-plat -w dist "$raw"/*.whl >"build/dist/$machine-auditwheel.log" 2>&1 &&
        [[ -f dist/stet_cli-$version-py3-none-manylinux_2_28_$machine.whl ]] ||
        { cat "build/dist/$machine-auditwheel.log" >&2; say "$machine: this is not a wheel for glibc 2.28"; return 1; }
}

say "sources"
mkdir -p third_party
while read -r name _ _ _ archive _; do
    tools/fetch-source.sh "$name"
    [[ -f third_party/$archive ]] || cp "${STET_ARCHIVES:-build/third_party/archives}/$archive" third_party/
done < <(grep -v '^#' tools/third-party.txt)

for machine in "${machines[@]}"; do
    wheel "$machine"
    say "$machine: .deb"
    tools/make-deb.py dist/*"_$machine.whl" dist
done

say "source distribution"
"$env/bin/python" -c "from scikit_build_core.build import build_sdist; build_sdist('dist')" >build/dist/sdist.log 2>&1 ||
    { tail -n 20 build/dist/sdist.log >&2; exit 1; }
tools/sbom.py >"dist/stet-$version.cdx.json"
(cd dist && sha256sum -- * >SHA256SUMS)
say "done"
ls -l dist
