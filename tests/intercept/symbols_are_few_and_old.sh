# Each shared object exports the one symbol it interposes (the preloaded one also its count of
# compiles, for test tools), needs nothing newer than glibc 2.28, and
# nothing but libc; no static thread-local storage.
. "$(dirname "$0")/lib.sh"
[ -z "${SANITIZER:-}" ] || { echo "skipped: a sanitizer brings its own"; exit 77; }
for pair in 'libstet.so:dlsym stet_layer_compiles' libstet_plugin.so:GetPjrtApi; do
    so="$LIB/${pair%%:*}"
    want "$so exports" "${pair##*:}" "$(nm -D --defined-only "$so" | awk '{print $3}' | paste -sd' ')"
    newest="$(objdump -T "$so" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1)"
    [ "$(printf '%s\nGLIBC_2.28\n' "$newest" | sort -V | tail -1)" = GLIBC_2.28 ] ||
        fail "$so needs $newest: $(objdump -T "$so" | grep "$newest")"
    # A mapped file that is cut short, or whose mount goes away, would end the host's process.
    want "$so maps files with" "" "$(nm -D --undefined-only "$so" | grep -o 'mmap[0-9]*' | paste -sd' ')"
    other="$(readelf -d "$so" | grep NEEDED | grep -v 'lib\(c\.so\.6\|m\.so\.6\|dl\.so\.2\|pthread\.so\.0\)' || true)"
    [ -z "$other" ] || fail "$so: $other"
    readelf -d "$so" | grep -q STATIC_TLS && fail "$so has static TLS"
    readelf -d "$so" | grep -q NODELETE || fail "$so can be unloaded"
    readelf -lW "$so" | grep -q ' TLS ' && fail "$so has thread-local storage"
done
exit 0
