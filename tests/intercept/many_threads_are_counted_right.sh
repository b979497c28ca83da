# Threads that compile, execute and destroy at once: nothing lost, nothing counted twice.
. "$(dirname "$0")/lib.sh"
threads=16 rounds=10
bare "$guest" threads "$fake" $threads $rounds > bare
preload "$guest" threads "$fake" $threads $rounds > with
same bare with
want "compiles" $((threads * rounds + 1)) "$(count compile_end)"
want "first executions" $((threads * rounds + 1)) "$(count first_run)"
want "executables destroyed" $((threads * rounds + 1)) "$(count executable_destroy)"
total=$((threads * rounds * 20))
want "total" 1 "$(count process_end "\"executions\":$total,")"
want "shared executable" $((total / 2)) \
    "$(dump | grep '"record":"execs"' | grep -o '"ids":\[[^]]*' | tr ',[' '\n\n' | grep -cx 1)"
want "no losses" 0 "$(count loss)"
want "no damage" 0 "$(count DAMAGE)"
want "no faults but stacks" 0 "$(count fault)"
