# dlsym for everybody else: RTLD_NEXT, RTLD_DEFAULT, dlvsym, dlmopen, errno and dlerror.
. "$(dirname "$0")/lib.sh"
libraries="$(preloads ${SANITIZER:-} "$LIB/libguest_next.so" "$LIB/libguest_behind.so")"
LD_PRELOAD="$libraries" "$guest" lookups "$fake" > bare
LD_PRELOAD="$libraries:$LIB/libstet.so" "$guest" lookups "$fake" > behind
LD_PRELOAD="$(preloads ${SANITIZER:-} "$LIB/libstet.so" "$LIB/libguest_next.so" "$LIB/libguest_behind.so")" \
    "$guest" lookups "$fake" > before
grep -q 'RTLD_NEXT in a library: 42' bare || fail "the test itself is wrong"
same bare before
same bare behind

want "a plugin in each process" 2 "$(count plugin)"
# A plugin in the global scope, asked for by RTLD_DEFAULT, is watched too.
LD_PRELOAD="$(preloads ${SANITIZER:-} "$fake")" "$guest" global > bare
LD_PRELOAD="$(preloads ${SANITIZER:-} "$LIB/libstet.so" "$fake")" "$guest" global > with
same bare with
want "plugin in the global scope" 3 "$(count plugin)"
# In a link namespace of its own; no sanitizer survives that.
[ -z "${SANITIZER:-}" ] || exit 0
"$guest" apart "$fake" > bare
LD_PRELOAD="$LIB/libstet.so" "$guest" apart "$fake" > with
same bare with
want "plugin in a namespace of its own" 4 "$(count plugin)"
