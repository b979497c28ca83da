# A plugin that calls another watched plugin: the outer one is what the framework used.
. "$(dirname "$0")/lib.sh"
export WRAPPED="$fake"
work=("$harness" --execute 4 --roundtrip "${inputs[@]}" --counts "$fake" "$LIB/libguest_wrapper.so" f.txt)
results bare "${work[@]}" > bare
results preload "${work[@]}" > with
same bare with
want "both are known" 1 "$(count plugin 'libfake_pjrt.so')"
want "compiles" 1 "$(count compile_end)"
want "by the outer" 1 "$(count compile_begin '"plugin":1,')"
want "clients" 1 "$(count client_create)"
want "loads" 1 "$(count deserialize)"
want "destroyed" 2 "$(count executable_destroy)"
want "totals" 1 "$(count process_end '"compiles":1,"loads":1,"executions":8,"to_device_count":4,')"
