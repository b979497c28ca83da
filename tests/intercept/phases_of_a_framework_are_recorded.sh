# What JAX reports of its tracing and lowering is in the journal, and no call of the listener fails.
. "$(dirname "$0")/lib.sh"
here="$SOURCE/tests/intercept/python"
export ASAN_OPTIONS=detect_leaks=0
case "${SANITIZER:-}" in *tsan*) echo "skipped: Python is not built for it"; exit 77 ;; esac
ran=0
for python in /usr/bin/python3 "$HOME"/.pyenv/versions/3.*/bin/python3; do
    [ -x "$python" ] || continue
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || continue
    rm -rf "$STET_DIR"
    [ "$(preload "$python" "$here/phases.py" "$LIB/libguest_driver.so" "$fake")" = fine ] ||
        fail "$python"
    want "$python: a trace" 1 "$(count phase '"kind":1,"function":"step","duration_ns":250000000,')"
    want "$python: a lowering" 1 \
        "$(count phase '"kind":2,"function":"jit(step)","duration_ns":500000000,')"
    want "$python: one without a name" 1 "$(count phase '"kind":2,"duration_ns":1000000000,')"
    want "$python: all of them" 6 "$(count phase)"
    want "$python: no faults" 0 "$(count fault)"
    ran=$((ran + 1))
done
[ $ran -gt 0 ] || { echo "skipped: no Python"; exit 77; }
