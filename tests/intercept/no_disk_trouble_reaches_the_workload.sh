# The run folder can't be made, written, kept; files are limited; there are no descriptors or threads:
# the workload gets what it gets without the layer.
. "$(dirname "$0")/lib.sh"
workload=("$harness" --execute 20 --repeat 3 --roundtrip "${inputs[@]}" "$fake" f.txt g.txt bad.txt garbage.bin)
results bare "${workload[@]}" > bare
unharmed() {
    same bare with
    echo "unharmed: $1"
}
: > a_file
for place in /proc/nowhere/run "$WORK/a_file" "$WORK/a_file/below" /dev/full "relative/folder" \
    "$(printf '/tmp/%05000d' 1)"; do
    STET_DIR="$place" results preload "${workload[@]}" > with
    unharmed "run folder ${place:0:40}"
done
(unset STET_DIR HOME XDG_STATE_HOME; results preload "${workload[@]}" > with)
unharmed "no home"
STET_LOG=/dev/full results preload "${workload[@]}" > with
unharmed "log on a full device"

# limited FLAG N command...: with that ulimit, which does not hold for what reads its output.
limited() {
    bash -c "set -o pipefail; (ulimit $1 $2; exec env LD_PRELOAD='$(
        preloads ${SANITIZER:-} "$LIB/libstet.so")' \"\$@\") | cat" - "${@:3}"
}
# A file size limit, whose signal would end the process. Sanitizers write and open files themselves.
sizes="0 1 4" numbers="6 8 10"
[ -z "${SANITIZER:-}" ] || sizes='' numbers=''
for blocks in $sizes; do
    rm -rf "$STET_DIR"
    results limited -f $blocks "${workload[@]}" > with
    unharmed "file size limit of $blocks KB"
done
# No descriptors left for us.
for n in $numbers; do
    rm -rf "$STET_DIR"
    results limited -n $n "${workload[@]}" > with
    unharmed "no more than $n descriptors"
done

STET_TEST_NO_THREADS=1 results preload "${workload[@]}" > with
unharmed "no threads"

# A disk that fills up.
mkdir -p small
if mount -t tmpfs -o size=16k tmpfs small 2> /dev/null; then
    STET_DIR="$WORK/small/run" results preload "${workload[@]}" > with || true
    head -c 1000000 /dev/zero > small/fill 2> /dev/null || true
    STET_DIR="$WORK/small/run2" results preload "${workload[@]}" > with2 || true
    umount small
    unharmed "a full disk"
    mv with2 with
    unharmed "a full disk from the start"
else
    echo "not tried: a full disk (may not mount)"
fi

# The folder goes away while it is written.
rm -rf "$STET_DIR"
(while [ ! -e stop ]; do rm -rf "$STET_DIR" 2> /dev/null || true; sleep 0.01; done) &
eraser=$!
FAKE_COMPILE_MS=20 results preload "${workload[@]}" > with
touch stop
wait $eraser
unharmed "the folder deleted again and again"
rm -rf "$STET_DIR"
(until ls "$STET_DIR"/journal/*.stj > /dev/null 2>&1; do sleep 0.02; done; rm -rf "$STET_DIR/journal") &
FAKE_COMPILE_MS=50 results preload "${workload[@]}" > with
wait
unharmed "the journal deleted under it"
want "its loss is told" 1 "$([ "$(count loss deleted)" -ge 1 ] && echo 1)"
want "and the process is still named" 1 "$([ "$(count process)" -ge 1 ] && echo 1)"
