#!/bin/sh
# Compares every struct, field and enumerator of src/abi with a real PJRT header, by hand:
#   tools/check-abi.sh DIR        DIR holds xla/pjrt/c/pjrt_c_api.h
#   tools/check-abi.sh --fetch    gets one first, with tools/fetch-pjrt-header.sh (API 0.90)
# Exits 0 when nothing differs but what is newer than that header, which must come last.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc=${CC:-cc}

from=${1:?usage: check-abi.sh DIR | --fetch}
if [ "$from" = --fetch ]; then
    from=$work/fetched
    "$here/tools/fetch-pjrt-header.sh" "$from"
fi

# The real interface, as one file of includes; extensions only where that header set has them, and
# only those that are C.
for h in pjrt_c_api.h pjrt_c_api_layouts_extension.h pjrt_c_api_shardings_extension.h \
    pjrt_c_api_memory_descriptions_extension.h pjrt_c_api_phase_compile_extension.h \
    pjrt_c_api_abi_version_extension.h; do
    [ ! -f "$from/xla/pjrt/c/$h" ] || echo "#include \"xla/pjrt/c/$h\""
done >"$work/real.h"
printf '#include "abi/pjrt_ext.h"\n#include "abi/pjrt_ext_abi.h"\n' >"$work/ours.h"

$cc -std=c17 -o "$work/fields" "$here/tools/abi-fields.c"
list() { # list WHICH INCLUDE_DIR: what WHICH.h declares of PJRT
    $cc -std=c17 -E -P -I"$2" "$work/$1.h" | "$work/fields" | grep ' PJRT_' | sort -u >"$work/$1.list"
}
list real "$from"
list ours "$here/src"
comm -12 "$work/real.list" "$work/ours.list" >"$work/both.list"
comm -23 "$work/real.list" "$work/ours.list" >"$work/missing.list"
comm -13 "$work/real.list" "$work/ours.list" >"$work/newer.list"

# One program over the common names, compiled with each header: offsets, sizes, values.
probe() { # probe WHICH INCLUDE_DIR LIST OUT
    {
        printf '#include "%s/%s.h"\n#include <stdio.h>\nint main(void)\n{\n' "$work" "$1"
        awk '$1 == "F" { printf "printf(\"F %s %s %%zu %%zu\\n\", offsetof(struct %s, %s), sizeof(((struct %s *)0)->%s));\n", $2, $3, $2, $3, $2, $3 }
             $1 == "S" { printf "printf(\"S %s %%zu\\n\", sizeof(struct %s));\n", $2, $2 }
             $1 == "K" { printf "printf(\"K %s %%d\\n\", (int)%s);\n", $2, $2 }' "$3"
        printf 'return 0;\n}\n'
    } >"$work/$1.c"
    $cc -std=c17 -I"$2" -o "$work/$1" "$work/$1.c"
    "$work/$1" >"$4"
}
# A struct that has grown since that header has another size; its common fields still count.
awk '$1 == "F" { print $2 }' "$work/newer.list" | sort -u >"$work/grown"
without_grown() { # without_grown FILE
    awk 'NR == FNR { grown[$1] = grown[$1 "_STRUCT_SIZE"] = 1; next } $1 == "F" || !($2 in grown)' \
        "$work/grown" "$1"
}
probe real "$from" "$work/both.list" "$work/real.all"
probe ours "$here/src" "$work/both.list" "$work/ours.all"
without_grown "$work/real.all" >"$work/real.out"
without_grown "$work/ours.all" >"$work/ours.out"

rc=0
if ! diff -u "$work/real.out" "$work/ours.out" >"$work/diff"; then
    echo "layouts differ (- real, + ours):"
    grep '^[-+][FSK]' "$work/diff"
    rc=1
fi
# What only we have must lie behind what both have: appended, not inserted.
probe ours "$here/src" "$work/newer.list" "$work/newer.out"
awk 'NR == FNR { if ($1 == "F" && $4 > end[$2]) end[$2] = $4; next }
     $1 == "F" && ($2 in end) && $4 < end[$2] { print "inserted, not appended:", $2, $3; bad = 1 }
     END { exit bad }' "$work/ours.out" "$work/newer.out" || rc=1
if [ -s "$work/missing.list" ]; then
    echo "in the real header and not in ours:"
    cat "$work/missing.list"
    rc=1
fi
minor=$(sed -n 's/^#define PJRT_API_MINOR //p' "$from/xla/pjrt/c/pjrt_c_api.h")
echo "API 0.$minor: $(grep -c '^S' "$work/both.list") structs, $(grep -c '^F' "$work/both.list") fields," \
    "$(grep -c '^K' "$work/both.list") enumerators compared; $(grep -c '^F' "$work/newer.list" || true) fields of ours are newer"
exit $rc
