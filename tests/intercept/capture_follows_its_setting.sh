# STET_CAPTURE, options, odd programs, errors of the plugin by function.
. "$(dirname "$0")/lib.sh"
head -c 3000000 /dev/urandom > big.bin
: > empty.bin
printf 'a few options' > options.pb
work=("$harness" --options options.pb "$fake" f.txt big.bin empty.bin f.txt)
for mode in '' structure full hash; do
    rm -rf "$STET_DIR"
    STET_CAPTURE="$mode" preload "${work[@]}" > /dev/null
    programs="$(ls "$STET_DIR/programs" 2> /dev/null | grep -vc options || true)"
    case "$mode" in
    '' | structure) want "$mode: kept" 2 "$programs" ;;
    full) want "$mode: kept" 3 "$programs" ;;
    hash) want "$mode: kept" 0 "$programs" ;;
    esac
    want "$mode: sizes" 1 "$(count compile_begin '"program_size":3000000')"
    want "$mode: same program, same hash" 2 "$(count compile_begin "$(count compile_begin . > /dev/null;
        dump | grep -m1 '"record":"compile_begin"' | grep -o '"program":"[0-9a-f]*"')")"
    want "$mode: options" 4 "$(count compile_begin '"options_size":13')"
done
rm -rf "$STET_DIR"
STET_CAPTURE=full preload "${work[@]}" > /dev/null
zstd -dcq "$STET_DIR"/programs/*.options.zst | cmp - options.pb || fail "options are not kept as they were"
zstd -dcq $(ls -S "$STET_DIR"/programs/*.zst | head -1) | cmp - big.bin || fail "program not as it was"

rm -rf "$STET_DIR"
for entry in PJRT_Client_Compile PJRT_LoadedExecutable_Execute PJRT_Client_BufferFromHostBuffer \
    PJRT_Buffer_ToHostBuffer PJRT_Executable_DeserializeAndLoad PJRT_Client_Create; do
    FAKE_FAIL="$entry=8" preload "$harness" --roundtrip "${inputs[@]}" "$fake" f.txt > /dev/null || true
    [ "$(count plugin_error "\"function\":\"$entry\",\"code\":8,\"message\":\".*told to fail")" -ge 1 ] ||
        fail "$entry: its error is not recorded: $(dump | grep plugin_error)"
done
# An entry with no hook of its own, and errors that are destroyed through the table or by themselves:
# each is recorded once.
for version in "" _0_75 _0_29; do
    rm -rf "$STET_DIR"
    FAKE_FAIL="PJRT_Executable_Serialize=12" preload "$harness" --roundtrip "${inputs[@]}" \
        "$LIB/libfake_pjrt$version.so" f.txt > /dev/null || true
    want "$version: an entry without a hook" 1 "$(count plugin_error '"PJRT_Executable_Serialize","code":12')"
    want "$version: all errors" 1 "$(count plugin_error)"
done

# Secrets stay at home.
rm -rf "$STET_DIR"
XLA_FLAGS=--xla_dump JAX_SECRET_THING=hush TPU_ADDRESS=http://me:word@host/x HF_TOKEN=hush \
    preload "$harness" "$fake" f.txt > /dev/null
want "flags" 1 "$(count process '"XLA_FLAGS=--xla_dump"')"
want "masked" 1 "$(count process '"JAX_SECRET_THING=\*\*\*"')"
want "masked address" 1 "$(count process 'http://\*\*\*@host/x')"
grep -rq 'hush\|me:word' "$STET_DIR" && fail "a secret was written"
exit 0
