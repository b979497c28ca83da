# Real JAX, the real TPU compiler, both ways in: the same executables, and the line that compiled.
. "$(dirname "$0")/lib.sh"
[ -z "${SANITIZER:-}" ] || { echo "skipped: Python is not built for it"; exit 77; }
env="$SOURCE/build/env/jax"
libtpu="$(ls "$env"/lib/python3*/site-packages/libtpu/libtpu.so 2> /dev/null || true)"
[ -x "$env/bin/python" ] && [ -n "$libtpu" ] || { echo "skipped: no environment with jax"; exit 77; }
export TPU_SKIP_MDS_QUERY=1 TPU_ACCELERATOR_TYPE=v6e-8 TPU_WORKER_HOSTNAMES=localhost
export ALLOW_MULTIPLE_LIBTPU_LOAD=1
script="$SOURCE/tests/intercept/python/aot.py"
line="$(grep -n '# LINE' "$script" | cut -d: -f1)"
bare "$env/bin/python" "$script" > bare 2> err || fail "$(tail -3 err)"
STET_DIR="$WORK/preload" preload "$env/bin/python" "$script" > with 2> err || fail "$(tail -3 err)"
same bare with
TPU_LIBRARY_PATH="$LIB/libstet_plugin.so" STET_DIR="$WORK/plugin" plugin_mode "$libtpu" \
    "$env/bin/python" "$script" > with 2> err || fail "$(tail -3 err)"
same bare with
for way in preload plugin; do
    STET_DIR="$WORK/$way"
    want "$way: compiles" 2 "$(count compile_end '"fingerprint"')"
    want "$way: memory" 2 "$(count compiled_memory '"arguments"')"
    want "$way: plugin" 1 "$(count plugin "\"path\":\"[^\"]*libtpu.so\",\"build_id\":\"[0-9a-f]\\+\"")"
    want "$way: topology" 1 "$(count note 'platform=tpu devices=8\|platform=tpu\\ndevices=8')"
    want "$way: whoever waits" 2 "$(count compile_stack '"waits"')"
    want "$way: the line, written once" 1 "$(count stack "aot.py\",\"line\":$line,\"function\":\"train\"")"
    dump | grep -o '"fingerprint":"[0-9a-f]*"' > "$way.fingerprints"
done
same preload.fingerprints plugin.fingerprints
