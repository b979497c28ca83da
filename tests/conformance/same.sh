#!/bin/sh
# What a program gets from a plugin must not depend on Stet: runs pjrt_harness bare, preloaded, in
# plugin mode, both at once, and switched off, and compares all it prints but the plugin's own counts.
# usage: same.sh BIN LIB PLUGIN harness-arguments...
set -eu
bin=$1 lib=$2 plugin=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export STET_DIR="$work/state"

run() { # run NAME PLUGIN arguments...: $work/NAME gets what must not change
    name=$1
    shift
    rc=0
    "$bin/pjrt_harness" "$@" >"$work/out" 2>"$work/$name.err" || rc=$?
    # The layer asks questions of its own, so the number of a call may move.
    { grep -v '^ "plugin":' "$work/out" | sed 's/ (call [0-9]*)//; s/\(]\|}\)[,}]$/\1/' || true
      echo "exit $rc"; } >"$work/$name"
}
same() { # same NAME: as bare
    if ! cmp -s "$work/bare" "$work/$1"; then
        echo "$1 differs from bare:"
        diff "$work/bare" "$work/$1" || true
        tail -5 "$work/$1.err"
        exit 1
    fi
}

run bare "$plugin" "$@"
if ! grep -q '"results"' "$work/bare"; then
    tail -5 "$work/bare.err"
    exit 1
fi
cat "$work/bare"
if [ ! -e "$lib/libstet.so" ]; then
    echo "no layer built: ran bare only"
    exit 0
fi

# A sanitizer's own library wants to be first.
first=$(ldd "$bin/pjrt_harness" | awk '/lib[at]san/ { print $3 }')
LD_PRELOAD="$first $lib/libstet.so"
export LD_PRELOAD
run preload "$plugin" "$@"
STET=off run off "$plugin" "$@"
export STET_PLUGIN="$plugin"
run both "$lib/libstet_plugin.so" "$@"
unset LD_PRELOAD
run plugin "$lib/libstet_plugin.so" "$@"
for way in preload off both plugin; do
    same $way
done
grep -q '"api"' "$work/bare" || exit 0 # no table, nothing to tell
[ -n "$(find "$work/state" -type f 2>/dev/null)" ] || { echo "the layer kept no journal"; exit 1; }
echo "same bare, preloaded, as a plugin, both, and off"
