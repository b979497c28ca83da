#!/bin/sh
# A real framework over the fake plugin gets the same bits with and without the layer, both ways in.
# usage: framework.sh jax|torchxla|torchtpu LIB ENV      exits 77 without the environment
set -eu
name=$1 lib=$2 env=$3
here=$(cd "$(dirname "$0")" && pwd)
python=$env/$name/bin/python
[ -x "$python" ] || { echo "no environment $name in $env"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export STET_DIR="$work/state" FAKE_PARAMS="f32[2,3]" FAKE_OUTPUTS="f32[2,3]"

run() { # run NAME PLUGIN
    case $name in
    jax) set -- "$1" "$2" PJRT_NAMES_AND_LIBRARY_PATHS="fake:$2" JAX_PLATFORMS=fake ;;
    torchxla) set -- "$1" "$2" PJRT_DEVICE=LIBRARY PJRT_LIBRARY_PATH="$2" ;;
    torchtpu) set -- "$1" "$2" TPU_LIBRARY_PATH="$2" FAKE_PLATFORM=tpu ;;
    esac
    way=$1
    shift 2
    if ! env "$@" "$python" "$here/frameworks/run_$name.py" >"$work/$way" 2>"$work/$way.err"; then
        tail -20 "$work/$way.err"
        exit 1
    fi
    grep -E '^[0-9a-f]{48}$' "$work/$way" >"$work/$way.bits" # frameworks also print what they like
}
same() { # same NAME: as bare
    cmp "$work/bare.bits" "$work/$1.bits"
}

run bare "$lib/libfake_pjrt.so"
cat "$work/bare.bits"
if [ ! -e "$lib/libstet.so" ]; then
    echo "no layer built: ran bare only"
    exit 0
fi
export LD_PRELOAD="$lib/libstet.so"
run preload "$lib/libfake_pjrt.so"
unset LD_PRELOAD
export STET_PLUGIN="$lib/libfake_pjrt.so"
run plugin "$lib/libstet_plugin.so"
same preload
same plugin
[ -n "$(find "$work/state" -type f)" ] || { echo "the layer kept no journal"; exit 1; }
echo "same bare, preloaded and as a plugin"
