#!/usr/bin/env bash
# Makes a compiler for Linux with a floor of glibc 2.28, out of the zig of PyPI: what releases are built with.
# usage: zig-toolchain.sh MACHINE DIR     MACHINE is x86_64 or aarch64
#
# DIR gets cc, ar and ranlib, and toolchain.cmake, which names them. The host's compiler, headers and libraries have
# no part in it, so a build is the same on every host. STET_RELEASE_ENV is another place for zig's environment.
set -euo pipefail

if [[ $# != 2 || ! $1 =~ ^(x86_64|aarch64)$ ]]; then
    sed -n '2,6s/^# \{0,1\}//p' "$0"
    exit 2
fi
machine=$1
root=$(cd "$(dirname "$0")/.." && pwd)
env=${STET_RELEASE_ENV:-$root/build/env/release}
[[ -n ${STET_RELEASE_ENV-} ]] || "$root/tools/python-env.sh" release "$env" >&2
zig=$("$env/bin/python" -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__) + "/zig")')
mkdir -p "$2"
dir=$(cd "$2" && pwd)

tool() { # tool NAME COMMAND…: a script DIR/NAME; left alone when it is there already, so that nothing is built anew
    local text
    text=$(printf '#!/bin/sh\nexec %s "$@"\n' "${*:2}")
    [[ -x $dir/$1 && $(<"$dir/$1") == "$text" ]] || { echo "$text" >"$dir/$1"; chmod +x "$dir/$1"; }
}
# The base instruction set: zig's own default is that of the host.
cpu=baseline
[[ $machine != aarch64 ]] || cpu=generic
tool cc "$zig" cc -target "$machine-linux-gnu.2.28" "-mcpu=$cpu"
tool ar "$zig" ar
tool ranlib "$zig" ranlib

{
    if [[ $machine != "$(uname -m)" ]]; then
        [[ $machine == aarch64 ]] || { echo "zig-toolchain: only aarch64 is cross-built" >&2; exit 1; }
        echo "set(CMAKE_SYSTEM_NAME Linux)"
        echo "set(CMAKE_SYSTEM_PROCESSOR $machine)"
        # What is built runs in the pinned qemu, with the C library and the libcurl of Debian.
        "$root/tools/fetch-source.sh" qemu-user "$root/build/third_party/qemu-user"
        "$root/tools/debian-root.sh" arm64 "$root/build/third_party/arm64-root" libc6 libcurl4
        echo "set(CMAKE_CROSSCOMPILING_EMULATOR $root/build/third_party/qemu-user/usr/bin/qemu-$machine"
        echo "    -L $root/build/third_party/arm64-root)"
    fi
    cat <<END
set(CMAKE_C_COMPILER $dir/cc)
set(CMAKE_ASM_COMPILER $dir/cc)
set(CMAKE_AR $dir/ar)
set(CMAKE_RANLIB $dir/ranlib)
set(CMAKE_STRIP true) # the linker strips what is released
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
END
} >"$dir/toolchain.cmake"
