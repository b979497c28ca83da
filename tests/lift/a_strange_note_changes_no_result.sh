# Notes about a lifted family that do not fit its programs: the results are right, and the family is lifted all the same.
# CTest gives: WORK (an empty folder), LIFT_VALUES and STRANGE_NOTE (programs), and what the first one reads.
set -euo pipefail
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK"
export STET_DIR="$WORK/run" STET_STORE="$WORK/store" STET_LOG="$WORK/log"
fail() { echo "FAILED: $*" >&2; cat log >&2; exit 1; }

"$LIFT_VALUES" 0 4 || fail "the first run"
cp -r store noted
for how in fewer other kinds; do
    rm -rf store run log && cp -r noted store
    "$STRANGE_NOTE" store $how || fail "no notes to rewrite"
    "$LIFT_VALUES" 4 4 || fail "$how: a wrong result"
    if grep -q "compiled as usual from now on" log; then fail "$how: the family is not lifted"; fi
    rm -rf run log
    "$LIFT_VALUES" 8 2 || fail "$how: a wrong result in the run after"
    grep -q "an earlier run lifted this family" log || fail "$how: the note was not replaced"
done
