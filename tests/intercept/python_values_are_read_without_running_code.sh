# Every Python that is here: the values of a call and of the user's frames are in the journal, no code
# of the user's runs for it, and nothing is kept alive.
. "$(dirname "$0")/lib.sh"
here="$SOURCE/tests/intercept/python"
export ASAN_OPTIONS=detect_leaks=0 FAKE_COMPILE_MS=80
case "${SANITIZER:-}" in *tsan*) echo "skipped: Python is not built for it"; exit 77 ;; esac
find_pythons
run() { run_python "$1" values.py; }
for python in "${pythons[@]}"; do
    version="$(version_of "$python")"
    case "$version" in 3.[0-8]) continue ;; esac # nothing is looked at
    run "$python"
    python3 "$here/check_values.py" < records || fail "$python"
    STET_CAPTURE=hash run "$python"
    python3 "$here/check_values.py" hidden < records || fail "$python: hashes"
    STET_VALUES=off run "$python"
    want "$python: turned off" 0 "$(count compile_values)"
    echo "$python ($version): fine"
done
