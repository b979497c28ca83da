# Every Python that is here: what was read back and sent before a compile is in the journal, with the
# user's lines that asked for it, whether the thread held the interpreter's lock or not.
. "$(dirname "$0")/lib.sh"
here="$SOURCE/tests/intercept/python"
export ASAN_OPTIONS=detect_leaks=0 FAKE_COMPILE_MS=80
case "${SANITIZER:-}" in *tsan*) echo "skipped: Python is not built for it"; exit 77 ;; esac
find_pythons
run() { run_python "$1" copies.py; }
for python in "${pythons[@]}"; do
    version="$(version_of "$python")"
    case "$version" in 3.9 | 3.1[0-5]) ;; *) continue ;; esac # of others nothing is read
    run "$python"
    python3 "$here/check_copies.py" "$here/copies.py" < records || fail "$python"
    STET_CAPTURE=hash run "$python"
    python3 "$here/check_copies.py" "$here/copies.py" hidden < records || fail "$python: hashes"
    STET_VALUES=off run "$python"
    want "$python: turned off" 0 "$(count compile_copy)"
    echo "$python ($version): fine"
done
