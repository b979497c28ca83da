#!/usr/bin/env bash
# Builds the libraries of tools/third-party.txt that Stet links statically, for one compiler.
# usage: build-libraries.sh PREFIX [cmake arguments]     PREFIX gets include/ and lib/
#
# CC, AR and RANLIB name the compiler and its tools (cc, ar, ranlib), BUILD_CC a compiler for this machine when CC is for
# HOST (aarch64-linux-gnu). Needs cmake, ninja (CMAKE and NINJA name others) and make. Does nothing when PREFIX is up to date.
set -euo pipefail

if [[ $# == 0 || $1 == -* ]]; then
    sed -n '2,6s/^# \{0,1\}//p' "$0"
    exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
prefix=$(cd "$1" && pwd)
shift
export CC=${CC:-cc} AR=${AR:-ar} RANLIB=${RANLIB:-ranlib}
say() { echo "build-libraries: $*" >&2; }
logged() { # logged COMMAND…: its output only when it fails
    "$@" >"$prefix/log" 2>&1 || { tail -n 30 "$prefix/log" >&2; say "failed: $*; all of it is in $prefix/log"; exit 1; }
}

for tool in "$CC" "${CMAKE:=cmake}" "${NINJA:=ninja}" make; do
    command -v "$tool" >/dev/null || { say "$tool is not installed, and the libraries are built with it"; exit 1; }
done
export CMAKE

exec 9>"$prefix/lock"
flock 9
want=$({ cat "$root"/{tools/third-party.txt,cmake/libraries/CMakeLists.txt,tools/build-libraries.sh}
    echo "$CC ${CFLAGS-} ${HOST-} $*"; } | sha256sum)
if [[ -f $prefix/complete && $(<"$prefix/complete") == "$want" ]]; then
    exit 0
fi
rm -rf "$prefix"/{complete,include,lib,build,sources}

libraries=(zlib zstd xxhash libsodium jansson hiredis ncurses sqlite curl)
for name in "${libraries[@]}"; do
    "$root/tools/fetch-source.sh" "$name" "$prefix/sources/$name"
done

# No path of this machine in what is built.
flags="${CFLAGS--O2 -g0} -fPIC -ffile-prefix-map=$prefix/="
say "zlib, zstd, xxHash, libsodium, Jansson, hiredis, SQLite"
logged "$CMAKE" -S "$root/cmake/libraries" -B "$prefix/build" -G Ninja -DCMAKE_MAKE_PROGRAM="$NINJA" -DSOURCES="$prefix/sources" \
    -DCMAKE_BUILD_TYPE=None -DCMAKE_{C,ASM}_FLAGS="$flags" -DCMAKE_INSTALL_PREFIX="$prefix" "$@"
logged "$CMAKE" --build "$prefix/build"
logged "$CMAKE" --install "$prefix/build"

say "ncurses"
mkdir -p "$prefix/build/ncurses"
cd "$prefix/build/ncurses"
host=()
[[ -z ${HOST-} ]] || host=(--host="$HOST")
# Terminals are described where the distributions keep their descriptions.
logged env CFLAGS="$flags" "$prefix/sources/ncurses/configure" "${host[@]}" --prefix="$prefix" --with-build-cc="${BUILD_CC:-$CC}" \
    --enable-widec --with-termlib=tinfo --disable-overwrite --without-cxx --without-cxx-binding --without-ada \
    --without-progs --without-tests --without-manpages --without-debug --without-shared --with-normal --disable-db-install \
    --without-gpm --without-dlsym --disable-stripping --disable-home-terminfo --disable-pc-files \
    --with-default-terminfo-dir=/usr/share/terminfo --with-terminfo-dirs=/etc/terminfo:/lib/terminfo:/usr/share/terminfo:/usr/lib/terminfo
logged make -C include libs
logged make -C ncurses -j2 libs BUILD_CCFLAGS=-O1 # the flags of CC are not for BUILD_CC
logged make -C ncurses install.libs
logged make -C include install
[[ -e $prefix/include/ncurses.h ]] || ln -s ncursesw/ncurses.h "$prefix/include/ncurses.h"
cd "$prefix"
rm -rf build sources log
echo "$want" >complete
say "ready in $prefix"
