# Each plugin has its own slot and is told apart; those beyond the eighth are left alone.
. "$(dirname "$0")/lib.sh"
plugins=()
for variant in '' _0_29 _0_75 _0_90 _longer _holes _novtable _second; do
    plugins+=("$LIB/libfake_pjrt$variant.so")
done
for n in 9 10; do
    cp "$fake" "copy$n.so"
    plugins+=("$WORK/copy$n.so")
done
# The first twice: it is the same plugin, in the same slot.
bare "$guest" plugins "${plugins[@]}" "$fake" > bare
preload "$guest" plugins "${plugins[@]}" "$fake" > with
same bare with
want "plugins" 8 "$(count plugin)"
want "compiles" 9 "$(count compile_end)"
want "of the first" 2 "$(count compile_begin '"plugin":1,')"
# one record or two: the writer may have come between
want "told" 2 "$(dump | sed -n 's/.*slots-full","count":\([0-9]*\).*/\1/p' | awk '{ n += $1 } END { print n }')"
want "executions of each" 1 "$(count process_end '"counts":\[1,1,1,1,1,1,1,1,1\]')"
