# Every Python that is here: random graphs of hostile objects are in the frames of a compile, and other threads change what is
# read. No code of theirs runs, no reference is kept, nothing crashes. SEED and ROUNDS make another run of it.
. "$(dirname "$0")/lib.sh"
here="$SOURCE/tests/intercept/python"
export ASAN_OPTIONS=detect_leaks=0
case "${SANITIZER:-}" in *tsan*) echo "skipped: Python is not built for it"; exit 77 ;; esac
find_pythons
rounds="${ROUNDS:-40}"
for python in "${pythons[@]}"; do
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || continue # nothing is looked at
    run_python "$python" zoo.py "${SEED:-1}" "$rounds"
    read=$(grep -c '"record":"compile_values"' records || true)
    [ "$read" -ge "$rounds" ] || fail "$python: values of $read compiles only"
    echo "$python: fine, values of $read compiles"
done
# The loops that a compile is in: their generators are read, and none of a loop that is over.
for python in "${pythons[@]}"; do
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || continue
    rm -rf "$STET_DIR"
    preload "$python" "$here/loops.py" "$LIB/libguest_driver.so" "$fake" "${SEED:-1}" "$((rounds / 2))" > said 2>&1 || true
    [ "$(tail -n 1 said)" = fine ] || fail "$python: $(tail -n 3 said)"
    none= # Python 3.13 without the lock shows no value stack
    [ "$(version_of "$python")" != 3.13t ] || none=none
    dump | python3 "$here/check_loops.py" said $none || fail "$python: loops"
done
