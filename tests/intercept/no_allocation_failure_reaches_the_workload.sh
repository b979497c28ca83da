# Every allocation of the layer is made to fail in turn, alone and with all that follow: the workload
# gets what it gets without the layer.
. "$(dirname "$0")/lib.sh"
args=(--execute 2 --roundtrip "${inputs[@]}")
workload=("$harness" "${args[@]}" "$fake" f.txt bad.txt)
results bare "${workload[@]}" > bare
STET_LOG="$WORK/log" results preload "${workload[@]}" > with
same bare with
n="$(sed -n 's/.*over; \([0-9]*\) allocations/\1/p' log)"
[ "$n" != 0 ] || { echo "skipped: not a build with fault injection"; exit 77; }
[ "$n" -gt 30 ] || fail "only $n allocations: is anything recorded?"
faults=0
for ((i = 0; i <= n + 5; i++)); do
    rm -rf "$STET_DIR"
    STET_TEST_FAIL_ALLOC=$i results preload "${workload[@]}" > with || fail "allocation $i"
    same bare with
    faults=$((faults + $(count fault no-memory)))
    STET_TEST_FAIL_ALLOC=$i STET_TEST_FAIL_STICKY=1 results preload "${workload[@]}" > with
    same bare with
    [ $((i % 4)) = 0 ] || continue
    STET_TEST_FAIL_ALLOC=$i STET_TEST_FAIL_STICKY=1 results plugin_mode "$fake" "$harness" \
        "${args[@]}" --counts "$fake" "$LIB/libstet_plugin.so" f.txt bad.txt > with
    same bare with
done
[ "$faults" -gt 10 ] || fail "only $faults faults reached a journal"
echo "$n allocations failed in turn, $faults faults in journals"
