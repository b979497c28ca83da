# Only the end of a program waits for a plugin that is slow to return the program's memory statistics.
# They are recorded whatever comes next: destruction, exit, a fork.
. "$(dirname "$0")/lib.sh"
# The plugin answers other threads after the first question of the thread that compiled, and that one with
# 65 bytes. The harness asks it as soon as the compile has returned. A compile that asked by itself would get
# the 65, and one that waited for another thread would never get an answer. At the end of a program its
# statistics may come from any thread.
export FAKE_STATS_AFTER_MAKER=1
results bare "$harness" --roundtrip "${inputs[@]}" "$fake" f.txt g.txt bad.txt > bare
results preload "$harness" --roundtrip "${inputs[@]}" "$fake" f.txt g.txt bad.txt > with
same bare with
# --roundtrip loads a program too; the layer asks about compiles alone.
want "statistics" 2 "$(count compiled_memory '"arguments":28,.*"temp":64,')"
want "compiles" 3 "$(count compile_end)"
unset FAKE_STATS_AFTER_MAKER
export FAKE_STATS_MS=200

# Exit right after the compile, with the program alive and without.
for when in early late; do
    rm -rf "$STET_DIR"
    results bare "$guest" ends "$fake" $when > bare
    results preload "$guest" ends "$fake" $when > with
    same bare with
    want "$when: statistics" 1 "$(count compiled_memory)"
done

# Forks meanwhile.
[ -z "${SANITIZER:-}" ] || exit 0
rm -rf "$STET_DIR"
bare "$guest" forks "$fake" busy | sort > bare
preload "$guest" forks "$fake" busy | sort > with
same bare with
want "children that exit" 3 "$(count process_end '"compiles":1,"executions":2,')"
want "no faults" 0 "$(count fault)"
