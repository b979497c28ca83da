# With a contract that the programs keep: every allocation fails in turn, alone and with all that follow;
# the contract is missing, cut off or nonsense. The workload gets what it gets without the layer.
. "$(dirname "$0")/lib.sh"
[ -z "${SANITIZER:-}" ] || { echo "skipped: stet run can't put a sanitized layer into sh"; exit 77; }
programs="$SOURCE/tests/conformance/programs"
workload=("$harness" --execute 2 --repeat 2 "$fake" "$programs/plain.mlir" "$programs/step.mlir" f.txt)
export STET_STATE_DIR="$WORK/state" STET_STORE=off
results bare "${workload[@]}" > bare
# The form that `stet run` hands to the layer; it exits 1, since nothing is compiled under it.
packed() { "$BIN/stet" run --quiet --contract="$1" --on-breach=fail -- sh -c "cp \"\$STET_CONTRACT\" $2" || true; }
(unset STET_DIR
    "$BIN/stet" run --quiet -- "${workload[@]}" > /dev/null
    "$BIN/stet" contract init -o good.txt
    sed 's/float32\[2, 3\]/float32[9, 9]/' good.txt > narrow.txt
    packed good.txt packed
    packed narrow.txt narrow)
[ -s packed ] || fail "stet run gave the layer no contract"
STET_CONTRACT="$WORK/narrow" results preload "${workload[@]}" > with
want "one that is broken refuses: it is really read" 4 "$(count plugin_error 'breaks the contract')"
rm -rf "$STET_DIR"
export STET_CONTRACT="$WORK/packed"
STET_LOG="$WORK/log" results preload "${workload[@]}" > with
same bare with
want "nothing is refused" 0 "$(count plugin_error 'breaks the contract')"
n="$(sed -n 's/.*over; \([0-9]*\) allocations/\1/p' log)"

for ((cut = 0; cut < $(stat -c %s packed); cut += 7)); do
    head -c $cut packed > short
    rm -rf "$STET_DIR"
    STET_CONTRACT="$WORK/short" results preload "${workload[@]}" > with
    same bare with
done
for place in "$WORK/nothing" "$WORK" /dev/full relative "$WORK/garbage.bin"; do
    rm -rf "$STET_DIR"
    STET_CONTRACT="$place" results preload "${workload[@]}" > with
    same bare with
done
echo "unharmed by contracts that can't be read"

[ "$n" != 0 ] || { echo "allocations not tried: not a build with fault injection"; exit 0; }
for ((i = 0; i <= n + 5; i++)); do
    rm -rf "$STET_DIR"
    STET_TEST_FAIL_ALLOC=$i results preload "${workload[@]}" > with
    same bare with
    STET_TEST_FAIL_ALLOC=$i STET_TEST_FAIL_STICKY=1 results preload "${workload[@]}" > with
    same bare with
done
echo "$n allocations failed in turn"
