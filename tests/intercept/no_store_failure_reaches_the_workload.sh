# With the store on, cold and warm: every allocation fails in turn, alone and with all that follow; the
# store can't be made, written, trusted; it goes away. The workload gets what it gets without the layer.
. "$(dirname "$0")/lib.sh"
programs="$SOURCE/tests/conformance/programs"
export STET_STORE="$WORK/store"
# Flags of every form, so that reading them fails as well.
printf -- '--xla_a=1\n--xla_b=x\n' > flags
export LIBTPU_INIT_ARGS="--xla_b=y --flagfile=$WORK/flags" XLA_FLAGS="--xla_gpu_ptx_file=$WORK/flags"
workload=("$harness" --execute 2 --repeat 2 "$fake" "$programs/plain.mlir" "$programs/step.mlir" f.txt)
results bare "${workload[@]}" > bare
cold() { rm -rf "$STET_DIR" "$STET_STORE"; }
served() { count compile_end "\"served\":$1"; }

cold
STET_LOG="$WORK/log" results preload "${workload[@]}" > with
same bare with
want "two programs are kept, and the one that has no key is not" 2 "$(count stored)"
n="$(sed -n 's/.*over; \([0-9]*\) allocations/\1/p' log)"
rm -rf "$STET_DIR"
results preload "${workload[@]}" > with
same bare with
want "both come back from the disk" 2 "$(served 2)"
want "and then from memory" 2 "$(served 1)"
cp -r store warm

unharmed() {
    same bare with
    echo "unharmed: $1"
}
: > a_file
for place in /proc/nowhere/store "$WORK/a_file" "$WORK/a_file/below" /dev/full relative; do
    rm -rf "$STET_DIR"
    STET_STORE="$place" results preload "${workload[@]}" > with
    unharmed "store at $place"
done
# Bytes of the kept entries turned, cut off, or empty.
find warm -name '*.stet' > entries
[ "$(wc -l < entries)" -ge 2 ] || fail "no entries to spoil"
for spoil in 'printf X | dd of=%s bs=1 seek=600 conv=notrunc' 'truncate -s 700 %s' 'truncate -s 0 %s'; do
    cold
    cp -r warm store
    while read -r entry; do
        # shellcheck disable=SC2059
        sh -c "$(printf "$spoil" "store/${entry#warm/}")" 2> /dev/null
    done < entries
    results preload "${workload[@]}" > with
    unharmed "entries after: $spoil"
    want "none of them is served from the disk" 0 "$(served 2)"
done
mkdir -p small
if mount -t tmpfs -o size=8k tmpfs small 2> /dev/null; then
    STET_STORE="$WORK/small/store" results preload "${workload[@]}" > with || true
    umount small
    unharmed "a full disk"
fi
cold
(while [ ! -e stop ]; do rm -rf "$STET_STORE" 2> /dev/null || true; sleep 0.005; done) &
eraser=$!
FAKE_COMPILE_MS=20 results preload "${workload[@]}" > with
touch stop
wait $eraser
unharmed "the store deleted again and again"

[ "$n" != 0 ] || { echo "allocations not tried: not a build with fault injection"; exit 0; }
[ "$n" -gt 60 ] || fail "only $n allocations: is the store on?"
for ((i = 0; i <= n + 5; i++)); do
    cold
    [ $((i % 2)) = 0 ] || cp -r warm store
    STET_TEST_FAIL_ALLOC=$i results preload "${workload[@]}" > with
    same bare with
    cold
    [ $((i % 2)) = 1 ] || cp -r warm store
    STET_TEST_FAIL_ALLOC=$i STET_TEST_FAIL_STICKY=1 results preload "${workload[@]}" > with
    same bare with
done
echo "$n allocations failed in turn"
