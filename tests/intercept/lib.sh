# Helpers of the tests in this folder. CTest gives: LIB (folder of the libraries), BIN (of the
# programs), SANITIZER (a runtime to preload first, or empty), WORK (an empty folder of the test's).
set -euo pipefail
ulimit -c 0
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK"
export STET_DIR="$WORK/run"
unset STET_PLUGIN STET_CAPTURE STET_LOG STET
fake="$LIB/libfake_pjrt.so"
harness="$BIN/pjrt_harness"
guest="$BIN/guest"
printf 'fake program f\nin f32[2,3] s32[]\nout f32[2,3]\n' > f.txt
printf 'fake program g\nin f32[2,3] s32[]\nout f32[2] s32[]\n' > g.txt
printf 'fake program bad\nerror 3 it does not please\n' > bad.txt
head -c 5000 /dev/urandom > garbage.bin
inputs=(--input 'f32[2,3]' --input 's32[]')

fail() { echo "FAILED: $*" >&2; exit 1; }
preloads() { local IFS=:; echo "$*"; }
bare() { env ${SANITIZER:+LD_PRELOAD=$SANITIZER} "$@"; }
# The two ways in.
preload() { env LD_PRELOAD="$(preloads ${SANITIZER:-} "$LIB/libstet.so")" "$@"; }
plugin_mode() { env ${SANITIZER:+LD_PRELOAD=$SANITIZER} STET_PLUGIN="$1" "${@:2}"; }
# What must not depend on who stands between: results, objects left alive in the plugin, exit code.
results() { local rc=0; "$@" > all || rc=$?; sed 's/,"calls":.*//' all; echo "exit $rc"; }
same() { cmp -s "$1" "$2" || { diff "$1" "$2" | head -20 >&2; fail "$1 and $2 differ"; }; }
dump() { "$BIN/journal_dump" "${1:-$STET_DIR}"; }
# count RECORD [PATTERN]: how many such records there are
count() { dump | grep "\"record\":\"$1\"" | grep -c -- "${2:-}" || true; }
want() { [ "$2" = "$3" ] || { dump >&2; fail "$1: expected $2, got $3"; }; }
# "3.13", or "3.13t" of a Python without the lock.
version_of() {
    "$1" -c 'import sys, sysconfig
print("%d.%d" % sys.version_info[:2] + "t" * bool(sysconfig.get_config_var("Py_GIL_DISABLED")))' 2> /dev/null
}
# Every Python in `pythons`: the system's, those on PATH and of pyenv, and the paths in STET_TEST_PYTHONS (separated by
# blanks). One of each version; exits when there is none.
find_pythons() {
    local p version seen=" "
    pythons=()
    for p in ${STET_TEST_PYTHONS:-} /usr/bin/python3 "$HOME"/.pyenv/versions/3.*/bin/python3 \
        $(compgen -c python3. | grep -x 'python3\.[0-9]*t\?' | sort -u); do
        version="$(version_of "$p")" || continue
        case "$seen" in *" $version "*) continue ;; esac
        seen="$seen$version "
        pythons+=("$(command -v "$p")")
    done
    [ ${#pythons[@]} -gt 0 ] || { echo "skipped: no Python"; exit 77; }
    echo "versions:$seen"
}
# run_python PYTHON SCRIPT: the script of tests/intercept/python under the layer, its records in `records`.
run_python() {
    local here="$SOURCE/tests/intercept/python" said
    rm -rf "$STET_DIR"
    said="$(preload "$1" "$here/$2" "$LIB/libguest_driver.so" "$fake" "$here/site-packages" "${@:3}" 2>&1)" || true
    [ "$said" = fine ] || fail "$1: $said"
    dump > records
}
