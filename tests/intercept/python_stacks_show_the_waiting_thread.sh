# Every Python that is here: the stack of the thread that waits, and no harm where there is none.
. "$(dirname "$0")/lib.sh"
here="$SOURCE/tests/intercept/python"
export ASAN_OPTIONS=detect_leaks=0 FAKE_COMPILE_MS=150
case "${SANITIZER:-}" in *tsan*) echo "skipped: Python is not built for it"; exit 77 ;; esac
find_pythons
# A build without fault injection cannot be made to wait for the lock.
STET_LOG="$WORK/log" preload "$harness" "$fake" f.txt > out
with_frames=2
[ "$(sed -n 's/.*over; \([0-9]*\) allocations/\1/p' log)" != 0 ] || with_frames=3
for python in "${pythons[@]}"; do
    version="$(version_of "$python")"
    rm -rf "$STET_DIR"
    [ "$(preload "$python" "$here/stacks.py" "$LIB/libguest_driver.so" "$fake")" = fine ] ||
        fail "$python"
    want "$python: compiles" 11 "$(count compile_end)"
    case "$version" in
    3.[0-8]) # no PyFrame_GetBack: nothing is looked at
        want "$python: stacks" 0 "$(count compile_stack)" ;;
    *)
        dump > records
        python3 "$here/check_stacks.py" "$here/stacks.py" < records || fail "$python" ;;
    esac
    case "$version" in
    3.[0-8]) ;;
    *) # on a busy machine the thread that looks comes after the compile
        rm -rf "$STET_DIR"
        FAKE_COMPILE_MS=0 STET_TEST_LATE_THREADS=200 preload "$python" "$here/late.py" \
            "$LIB/libguest_driver.so" "$fake" > out || fail "$python: late"
        want "$python: late, compiles" 3 "$(count compile_end)"
        want "$python: late, stacks" 3 "$(count compile_stack '"waits":1')"
        want "$python: late, lines" 1 "$(count stack '"line":14,"function":"step"')"
        # The lock is not free again before the compile is over: the first one has no values of its frames, and the
        # next ones are read without releasing it.
        rm -rf "$STET_DIR"
        FAKE_COMPILE_MS=0 STET_TEST_LATE_VALUES=200 preload "$python" "$here/late.py" \
            "$LIB/libguest_driver.so" "$fake" > out || fail "$python: late values"
        want "$python: late values, compiles" 3 "$(count compile_end)"
        want "$python: late values, stacks" 3 "$(count compile_stack '"waits":1')"
        want "$python: late values, frames" "$with_frames" "$(count compile_values '"path":"n","scope":"local"')" ;;
    esac
    case "$version" in 3.[0-7]) continue ;; esac
    rm -rf "$STET_DIR"
    [ "$(preload "$python" "$here/ends.py" "$LIB/libguest_driver.so" "$fake")" = fine ] ||
        fail "$python: at its end"
    want "$python: compiles" 4 "$(count compile_end)"
    case "$version" in 3.8) continue ;; esac
    want "$python: subinterpreters" 1 "$(count compile_stack 'has subinterpreters')"
    want "$python: after its end" 1 "$(count compile_stack '"missing":"Python is \(not running\|finalising\)')"
    echo "$python ($version): fine"
done
