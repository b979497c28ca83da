# A command that is launched again has its programs loaded before it asks. It may then ask, leave at
# once, fork, end, wait or do it on many threads: it sees what it sees without the layer, and nothing
# that it did not ask for stays behind in the plugin.
. "$(dirname "$0")/lib.sh"
export ASAN_OPTIONS=detect_leaks=0 # a child of fork frees nothing of its parent's
export STET_STORE="$WORK/store" GUEST
guest() { GUEST="$1" "${@:2}" "$guest" again "$fake" | sort; }
loaded() { count note "loaded-ahead.*\"$1\""; }

guest use bare > bare
guest use preload > with
same bare with
want "the first launch has nothing to load" 0 "$(count note loaded-ahead)"
want "and keeps its programs" 4 "$(count stored)"
want "in one list" 1 "$(find store/orders -type f | wc -l)"

for what in use leave keep race fork; do
    case "$what${SANITIZER:-}" in
    fork*tsan*) continue ;; # TSan knows no threads in a forked child
    esac
    for ms in 0 30; do
        rm -rf "$STET_DIR"
        guest $what bare > bare
        guest $what preload env FAKE_LOAD_MS=$ms > with
        same bare with
        want "$what: no damage" 0 "$(count DAMAGE)"
        want "$what: nothing is compiled" 0 "$(count compile_end '"store":"miss"')"
    done
done
want "in one list" 1 "$(find store/orders -type f | wc -l)"
rm -rf "$STET_DIR"
guest use bare > bare
HARNESS_UNTIL=PJRT_Executable_DeserializeAndLoad=4 guest use preload env FAKE_LOAD_MS=30 > with
same bare with
want "who comes late enough finds all" 1 "$(loaded '4 loaded, 4 taken')"

rm -rf "$STET_DIR"
STET_LOG="$WORK/log" guest use preload > with
n="$(sed -n 's/.*over; \([0-9]*\) allocations/\1/p' log)"
[ "$n" != 0 ] || { echo "not a build with fault injection"; exit 0; }
rm -rf "$STET_DIR"
guest leave bare > bare
STET_TEST_AHEAD_MS=20 HARNESS_UNTIL=PJRT_LoadedExecutable_Destroy=4 guest leave preload > with
same bare with
want "what nobody asks for is given back in time" 1 "$(loaded '4 loaded, 0 taken')"

[ -z "${SANITIZER:-}" ] || exit 0
guest leave bare > bare_leave
guest use bare > bare_use
for ((i = 0; i <= n + 5; i++)); do
    what=use
    [ $((i % 3)) != 0 ] || what=leave
    rm -rf "$STET_DIR"
    STET_TEST_FAIL_ALLOC=$i guest $what preload env FAKE_LOAD_MS=1 > with
    same bare_$what with
    STET_TEST_FAIL_ALLOC=$i STET_TEST_FAIL_STICKY=1 guest $what preload env FAKE_LOAD_MS=1 > with
    same bare_$what with
done
echo "$n allocations failed in turn"
