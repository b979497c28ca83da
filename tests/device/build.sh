#!/usr/bin/env bash
# Makes the build that the scripts of this folder take as BUILD_DIR: bin/ and lib/ without debug information, which run on
# any Linux with the glibc that is named at the end. Nothing else is needed there.
# usage: build.sh [DIR]     build/device unless said
set -euo pipefail
cd "$(dirname "$0")/../.."
dir=${1:-build/device}
[[ -f build/release/build.ninja ]] || cmake --preset release >/dev/null
cmake --build --preset release --target stet stet_preload stet_plugin stet_cpu stet_batch_shared stet_help_files >/dev/null
rm -rf "$dir"
cmake --install build/release --prefix "$dir" --component stet --strip >/dev/null
rm -rf "$dir/share" # help and licences

files=("$dir"/bin/stet "$dir"/lib/*.so)
foreign=$(ldd "${files[@]}" | awk '/=>/ && $1 !~ /^lib(c|m|dl|pthread)\.so/ { print $1 }')
[[ -z $foreign ]] || { echo "build.sh: this needs more than glibc: $foreign" >&2; exit 1; }
echo "$dir: $(du -sh "$dir" | cut -f 1), glibc $(objdump -T "${files[@]}" | grep -o 'GLIBC_[0-9.]*' | sort -V | tail -n 1 | cut -d _ -f 2) or newer"
