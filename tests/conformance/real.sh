#!/bin/sh
# A real compiler, ahead of time and without its device, from plain C: same.sh over libtpu or JAX's
# CUDA plugin with a training step that JAX lowered.
# usage: real.sh tpu|cuda BIN LIB ENV      ENV holds the Python environments; exits 77 without them
set -eu
which=$1 bin=$2 lib=$3 env=$4
here=$(cd "$(dirname "$0")" && pwd)
[ -x "$env/jax/bin/python" ] || { echo "no environment jax in $env"; exit 77; }

case $which in
tpu)
    plugin=$(ls "$env"/jax/lib/python3*/site-packages/libtpu/libtpu.so)
    export TPU_SKIP_MDS_QUERY=1 TPU_ACCELERATOR_TYPE=v6e-8 TPU_WORKER_HOSTNAMES=localhost
    export ALLOW_MULTIPLE_LIBTPU_LOAD=1
    set -- --aot v6e:2x4
    layers=0 ;; # a layer costs libtpu tens of seconds
cuda)
    plugin=$(ls "$env"/cuda/lib/python3*/site-packages/jax_plugins/xla_cuda*/xla_cuda_plugin.so 2>/dev/null) ||
        { echo "no environment cuda in $env"; exit 77; }
    set -- --aot "" --set-file target_config="$here/h200.txtpb" --set topology=1x1x1
    layers=1 ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$env/jax/bin/python" "$here/make_program.py" "$work" "$which" "$layers"
"$here/same.sh" "$bin" "$lib" "$plugin" "$@" --options "$work/options.pb" "$work/step.mlirbc"
