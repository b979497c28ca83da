# Forks while other threads compile: a child that uses the plugin has its own journal, one that does
# not leaves nothing; vfork and exec go through.
. "$(dirname "$0")/lib.sh"
export ASAN_OPTIONS=detect_leaks=0 # the guest destroys nothing
case "${SANITIZER:-}" in
*tsan*) echo "skipped: TSan knows no threads in a forked child"; exit 77 ;;
*asan*) busy=() ;; # its allocator may be locked in the child, and what other threads own leaks there
*) busy=(busy) ;;
esac
bare "$guest" forks "$fake" "${busy[@]}" | sort > bare
preload "$guest" forks "$fake" "${busy[@]}" | sort > with
same bare with
# Three of the nine children end by exit, three by _exit after use, three without any use.
want "processes that ended in order" 4 "$(count process_end)"
want "children that exit" 3 "$(count process_end '"compiles":1,"executions":2,')"
journals="$(ls "$STET_DIR/journal" | grep -c '\.m0000')"
[ "$journals" -ge 4 ] && [ "$journals" -le 7 ] || fail "$journals journals"
[ "$(count segment '"forked_from"')" -ge 3 ] || fail "children do not say whose they are"
want "no damage" 0 "$(count DAMAGE)"
