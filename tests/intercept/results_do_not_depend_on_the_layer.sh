# Every kind of plugin table, both ways in: the framework sees what it would see without us.
. "$(dirname "$0")/lib.sh"
args=(--execute 3 --roundtrip "${inputs[@]}")
programs=(f.txt g.txt bad.txt garbage.bin)
for variant in '' _0_29 _0_56 _0_75 _0_90 _longer _holes _novtable _second _null; do
    p="$LIB/libfake_pjrt$variant.so"
    results bare "$harness" "${args[@]}" "$p" "${programs[@]}" > bare
    results preload "$harness" "${args[@]}" "$p" "${programs[@]}" > preload
    results plugin_mode "$p" "$harness" "${args[@]}" --counts "$p" "$LIB/libstet_plugin.so" \
        "${programs[@]}" > plugin
    STET=off results preload "$harness" "${args[@]}" "$p" "${programs[@]}" > off
    grep -q 'outputs\|cannot read\|exit 1' bare || fail "the test itself is wrong: $(cat bare)"
    same bare preload
    same bare plugin
    same bare off
done
# Ahead of time, without a client.
results bare "$harness" --aot fake:1x2 "$fake" f.txt > bare
results preload "$harness" --aot fake:1x2 "$fake" f.txt > preload
grep -q fingerprint bare || fail "$(cat bare)"
same bare preload
