# A plugin that takes long to tell a program's memory holds up nobody but who ends the program; what
# it tells is kept whatever comes next: destruction, exit, a fork.
. "$(dirname "$0")/lib.sh"
export FAKE_STATS_MS=200
results bare "$harness" --roundtrip "${inputs[@]}" "$fake" f.txt g.txt bad.txt > bare
results preload "$harness" --roundtrip "${inputs[@]}" "$fake" f.txt g.txt bad.txt > with
same bare with
# --roundtrip loads a program too; only compiles are asked about.
want "told" 2 "$(count compiled_memory '"arguments":28,.*"temp":64,.*"ask_ns":[2-9][0-9]\{8\}')"
want "compiles" 3 "$(count compile_end)"
want "compiles that waited for it" 0 "$(count compile_end '"layer_ns":[1-9][0-9]\{8,\}')"

# Exit right after the compile, with the program alive and without.
for when in early late; do
    rm -rf "$STET_DIR"
    results bare "$guest" ends "$fake" $when > bare
    results preload "$guest" ends "$fake" $when > with
    same bare with
    want "$when: told" 1 "$(count compiled_memory)"
done

# Forks meanwhile.
[ -z "${SANITIZER:-}" ] || exit 0
rm -rf "$STET_DIR"
bare "$guest" forks "$fake" busy | sort > bare
preload "$guest" forks "$fake" busy | sort > with
same bare with
want "children that exit" 3 "$(count process_end '"compiles":1,"executions":2,')"
want "no faults" 0 "$(count fault)"
