#!/bin/sh
# The soak through the layer, one way in; then the journal is asked whether it saw all of it.
# usage: through.sh plugin|preload|store BIN LIB soak-arguments...      (store: plugin, with one on)
set -eu
way=$1 bin=$2 lib=$(cd "$3" && pwd)
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export STET_DIR="$work/state"
export TSAN_OPTIONS="die_after_fork=0 halt_on_error=1 ${TSAN_OPTIONS:-}"
plugin=$lib/libfake_pjrt.so
[ "$way" != store ] || export STET_STORE="$work/store"
set -- --counts "$plugin" --state "$work/state" "$@"
if [ "$way" != preload ]; then
    STET_PLUGIN="$plugin" "$bin/soak" "$@" "$lib/libstet_plugin.so" >"$work/said"
else
    # A sanitizer's own library wants to be first.
    first=$(ldd "$bin/soak" | awk '/lib[at]san/ { print $3 }')
    LD_PRELOAD="$first $lib/libstet.so" "$bin/soak" "$@" "$plugin" >"$work/said"
fi
cat "$work/said"

# What the layer counted for that process is what the process did.
pid=$(sed 's/.*"pid":\([0-9]*\).*/\1/' "$work/said")
did=$(grep -o '"compiles":[0-9]*,"loads":[0-9]*,"executions":[0-9]*' "$work/said")
"$bin/journal_dump" "$work/state" >"$work/journal"
counted=$(grep '"record":"process_end"' "$work/journal" | grep -e "-$pid-" |
    grep -o '"compiles":[0-9]*,"loads":[0-9]*,"executions":[0-9]*') || true
if [ "$did" != "$counted" ]; then
    echo "did $did, counted $counted"
    exit 1
fi
# No record was lost, no child went unwatched, and no program is torn. Only the order of executions
# may have holes: 64 threads can fill the ring faster than it is drained.
sed -n 's/.*"record":"loss".*"executions":\([0-9]*\).*/\1/p' "$work/journal" |
    awk '{ n += $1 } END { if (n) print " executions counted but not in the sequence: " n }'
if grep -e '"record":"fault"' -e '"record":"loss"' -e DAMAGE "$work/journal" |
    grep -v -e '"why":"busy","executions"' -e '"why":"rotated"'; then
    exit 1
fi
zstd -tq "$work"/state/programs/*.zst
if [ "$way" = store ]; then
    kept=$(grep -c '"record":"stored"' "$work/journal" || true)
    served=$(grep -c '"served":[12]' "$work/journal" || true)
    echo " kept $kept, served $served"
    [ "$kept" -gt 0 ] && [ "$served" -gt 0 ]
fi
