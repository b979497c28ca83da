# Children that never ask for a plugin: no allocation, thread, file or folder of ours.
. "$(dirname "$0")/lib.sh"
[ -z "${SANITIZER:-}" ] || { echo "skipped: a sanitizer allocates"; exit 77; }
LD_PRELOAD="$LIB/libguest_counted.so" "$guest" silent 9> bare
LD_PRELOAD="$LIB/libstet.so:$LIB/libguest_counted.so" "$guest" silent 9> with
same bare with
grep -q 'allocations, 3 threads' with || grep -q '1 threads\|3 threads' with || fail "$(cat with)"
LD_PRELOAD="$LIB/libstet.so" sh -c 'ls / | sort > /dev/null; true' || fail "a shell"
[ ! -e "$STET_DIR" ] || fail "a run folder was made"
