# Counts in the journal against what the program did, alone and with copies of the layer stacked.
. "$(dirname "$0")/lib.sh"
args=(--execute 7 --repeat 2 --roundtrip "${inputs[@]}")
check() {
    want "$1: compiles" 6 "$(count compile_end)"
    want "$1: compiles begun" 6 "$(count compile_begin)"
    want "$1: failed" 2 "$(count compile_end '"error_code":3')"
    want "$1: loads" 4 "$(count deserialize)"
    want "$1: clients" 1 "$(count client_create)"
    want "$1: clients destroyed" 1 "$(count client_destroy)"
    want "$1: executables destroyed" 8 "$(count executable_destroy)"
    want "$1: plugins" 1 "$(count plugin 'libfake_pjrt.so')"
    want "$1: plugin errors" 2 "$(count plugin_error 'PJRT_Client_Compile.*it does not please')"
    want "$1: executions" 56 "$(dump | grep -o '"ids":\[[^]]*' | tr -cd ',[' | wc -c)"
    want "$1: total" 1 "$(count process_end '"compiles":6,"loads":4,"executions":56,')"
    want "$1: transfers" 1 "$(count process_end '"to_device_count":16,"to_device_bytes":224,')"
    want "$1: counts" 1 "$(count process_end '"counts":\[7,7,7,7,7,7,7,7\]')"
    want "$1: no faults" 0 "$(count fault)"
    want "$1: no losses" 0 "$(count loss)"
    want "$1: no damage" 0 "$(count DAMAGE)"
    want "$1: kept once" 3 "$(ls "$STET_DIR/programs" | grep -c 'mlir.zst$')"
    zstd -dcq "$STET_DIR"/programs/*.zst | grep -q 'fake program f' || fail "$1: program f is not kept"
    rm -rf "$STET_DIR"
}
preload "$harness" "${args[@]}" "$fake" f.txt g.txt bad.txt > /dev/null
check preload
plugin_mode "$fake" "$harness" "${args[@]}" "$LIB/libstet_plugin.so" f.txt g.txt bad.txt > /dev/null
check plugin
plugin_mode "$fake" env LD_PRELOAD="$(preloads ${SANITIZER:-} "$LIB/libstet.so")" "$harness" \
    "${args[@]}" "$LIB/libstet_plugin.so" f.txt g.txt bad.txt > /dev/null
check "preload over plugin mode"
cp "$LIB/libstet_plugin.so" other_copy.so
plugin_mode "$WORK/other_copy.so:$fake" "$harness" "${args[@]}" "$LIB/libstet_plugin.so" f.txt g.txt \
    bad.txt > /dev/null
check "plugin mode over plugin mode"
cp "$LIB/libstet.so" libstet_again.so
env LD_PRELOAD="$(preloads ${SANITIZER:-} "$LIB/libstet.so" "$WORK/libstet_again.so")" "$harness" \
    "${args[@]}" "$fake" f.txt g.txt bad.txt > /dev/null
check "preload twice"
