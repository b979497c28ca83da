# Every allocation of the layer fails in turn, alone and with all that follow, in a run that lifts a family and notes it
# in the store, and in one that finds the note. The results are right, whether a program was lifted or compiled.
# LIFT_EVERY: only each so many-th, because a sanitizer is slow. CTest gives: WORK (an empty folder), LIFT_VALUES (the program), and what that reads.
set -euo pipefail
ulimit -c 0
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK"
export STET_DIR="$WORK/run" STET_STORE="$WORK/store"
fail() { echo "FAILED: $*" >&2; exit 1; }
cold() { rm -rf store run log; }
warm() { cold && cp -r noted store; }
allocations() { sed -n 's/.*over; \([0-9]*\) allocations/\1/p' log; }

cold
STET_LOG="$WORK/log" "$LIFT_VALUES" 0 4 || fail "the first run"
n="$(allocations)"
[ "$(find store/lifts -type f | wc -l)" = 2 ] || fail "no notes of the family and of its skeleton"
cp -r store noted
warm
STET_LOG="$WORK/log" "$LIFT_VALUES" 4 3 || fail "the next run"
grep -q "an earlier run lifted this family" log || fail "the note was not used"
m="$(allocations)"
[ "${n:-0}" != 0 ] || { echo "allocations not tried: not a build with fault injection"; exit 0; }
found=0
for ((i = 0; i < (n > m ? n : m); i += ${LIFT_EVERY:-1})); do
    cold
    "$LIFT_VALUES" 0 4 "$i" || fail "allocation $i, the first run"
    warm
    STET_LOG="$WORK/log" "$LIFT_VALUES" 4 3 "$i" || fail "allocation $i, the next run"
    if grep -qs "an earlier run lifted this family" log; then found=$((found + 1)); fi
    if [ $((i % 2)) = 0 ]; then cold; else warm; fi
    "$LIFT_VALUES" $((i % 2 * 4)) 3 "$i" sticky || fail "allocation $i and all that follow"
done
[ "$found" -gt 0 ] || fail "no run found the family"
echo "$n and $m allocations failed in turn; $found runs found their family all the same"
