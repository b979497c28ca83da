# Handlers that use the plugin, registered before or after the layer started: both are in the journal,
# and the exit code is the program's own.
. "$(dirname "$0")/lib.sh"
for order in early late; do
    rm -rf "$STET_DIR"
    results bare "$guest" ends "$fake" $order > bare
    results preload "$guest" ends "$fake" $order > with
    grep -q 'exit 7' bare || fail "$(cat bare)"
    same bare with
    want "$order: execution" 1 "$(count process_end '"executions":1,')"
    want "$order: client" 1 "$(count client_destroy)"
    rm -rf "$STET_DIR"
    results plugin_mode "$fake" "$guest" ends "$LIB/libstet_plugin.so" $order > with
    same bare with
    want "$order: execution" 1 "$(count process_end '"executions":1,')"
done
