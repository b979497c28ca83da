# STET_CAPTURE=structure, the default: what is kept of a program reads as the program does, tells
# different constants apart, and has nothing of what the large ones hold.
. "$(dirname "$0")/lib.sh"
stet="$BIN/stet"
part() { "$stet" fingerprint --format=json "$1" | sed "s/.*\"$2\":\"\([0-9a-f]*\)\".*/\1/"; }
capture() { # FILE FORMAT: where it is captured
    rm -rf "$STET_DIR"
    preload "$harness" --format "$2" "$LIB/libfake_pjrt.so" "$1" > /dev/null
    ls "$STET_DIR"/programs/*.zst | grep -v options
}

for kind in mlirbc:mlir hlo.pb:hlo mlir:mlir; do
    original="$SOURCE/tests/intercept/data/constants.${kind%:*}"
    kept="$(capture "$original" "${kind#*:}")"
    [ "$(zstd -dcq "$kept" | wc -c)" = "$(wc -c < "$original")" ] || fail "$kind: another length"
    for what in skeleton slices shapes ranks axes dtypes shardings donation layouts attributes; do
        [ "$(part "$kept" $what)" = "$(part "$original" $what)" ] || fail "$kind: $what moved"
    done
    [ "$(part "$kept" constants)" != "$(part "$original" constants)" ] || fail "$kind: constants are kept"
    zstd -dcq "$kept" > kept
    ! grep -aqi 'SECRETS!SECRETS!\|53454352455453215345435245545321' kept || fail "$kind: secrets are kept"
    grep -aqi 'SECRETS!SECRETS!\|53454352455453215345435245545321' "$original" || fail "$kind: a test of nothing"
    # Two of the integers, which are multiples of 7919: as raw bytes, as text, as varints.
    ints='\x22\x3a\xf7\x00\x11\x59\xf7\x00|223AF7001159F700|\xa2\xf4\xdc\x07\x91\xb2\xdd\x07'
    LC_ALL=C grep -aqP "$ints" "$original" || fail "$kind: a test of nothing"
    ! LC_ALL=C grep -aqP "$ints" kept || fail "$kind: integers are kept"
    # One byte of one large constant: another program, and it shows.
    sed 's/SECRETS!/SECRETS?/7; s/53454352455453215345435245545321/5345435245545321534543524554533f/7' \
        "$original" > other
    ! cmp -s "$original" other || fail "$kind: nothing changed"
    first="$(part "$kept" constants)"
    kept="$(capture other "${kind#*:}")"
    [ "$(part "$kept" constants)" != "$first" ] || fail "$kind: another constant looks the same"
    rm -rf "$STET_DIR"
    STET_CAPTURE=full preload "$harness" --format "${kind#*:}" "$fake" "$original" > /dev/null
    zstd -dcq "$STET_DIR"/programs/*[a-z].zst | cmp - "$original" || fail "$kind: full is not all of it"
done

# Cut anywhere, or with a byte changed: kept or not, the compile goes on and nothing breaks.
for ((i = 0; i < 40; i++)); do
    head -c $((RANDOM % 13000)) "$SOURCE/tests/intercept/data/constants.mlirbc" > "cut$i"
    cp "$SOURCE/tests/intercept/data/constants.mlirbc" "hit$i"
    printf "\\x$(printf %x $((RANDOM % 256)))" | dd of="hit$i" bs=1 seek=$((RANDOM % 3000)) conv=notrunc status=none
done
bare "$harness" "$fake" cut* hit* > all || true
sed 's/,"calls":.*//' all > bare
preload "$harness" "$fake" cut* hit* > all || true
sed 's/,"calls":.*//' all > with
same bare with
