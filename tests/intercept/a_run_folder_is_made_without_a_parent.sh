# Plugin mode without `stet run`: a run folder of the process's own, where `stet runs` looks.
. "$(dirname "$0")/lib.sh"
unset STET_DIR XDG_STATE_HOME
ours() { ls -d "$1"/runs/2*-*-??????/journal > /dev/null || fail "nothing in $1: $(find . | head -20)"; }
export HOME="$WORK/home"
plugin_mode "$fake" "$harness" "$LIB/libstet_plugin.so" f.txt > /dev/null
ours "$WORK/home/.local/state/stet"
XDG_STATE_HOME="$WORK/xdg" plugin_mode "$fake" "$harness" "$LIB/libstet_plugin.so" f.txt > /dev/null
ours "$WORK/xdg/stet"
STET_STATE_DIR="$WORK/told" plugin_mode "$fake" "$harness" "$LIB/libstet_plugin.so" f.txt > /dev/null
ours "$WORK/told"

# A plugin that can't be used is told as an error of the plugin, not a crash.
for wrong in '' /nowhere/libtpu.so "$LIB/libstet_plugin.so" "$LIB/libguest_next.so"; do
    rc=0
    plugin_mode "$wrong" "$harness" "$LIB/libstet_plugin.so" f.txt > out || rc=$?
    grep -q 'stet: .*STET_PLUGIN' out || fail "STET_PLUGIN=$wrong: exit $rc, $(cat out)"
done
