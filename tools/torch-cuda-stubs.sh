#!/usr/bin/env bash
# Lets a CUDA build of torch import on a machine without the CUDA libraries.
# usage: torch-cuda-stubs.sh SITE_PACKAGES
#
# PyPI's torch is a CUDA build; the nvidia wheels it asks for are several gigabytes. Where they are left
# out, this puts into torch/lib one small library with every symbol that is then missing, and an empty
# one of each missing library's name that leads to it. torch looks there by itself, so no environment
# variable is needed. CUDA answers "no device"; the CPU, XLA and TPU paths work.
set -euo pipefail

if [[ $# != 1 || ! -f $1/torch/lib/libtorch_cuda.so ]]; then
    sed -n '2,8s/^# \{0,1\}//p' "$0"
    exit 2
fi
cd "$1/torch/lib"
stub=libcuda_stub.so
made=cuda_stubs.txt # what an earlier run put here
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset LD_LIBRARY_PATH LD_PRELOAD

# Start over, so that a second run finds the same things missing as the first.
[[ ! -f $made ]] || xargs rm -f <"$made"

libs=(lib*.so)
ldd "${libs[@]}" >"$scratch/ldd" 2>/dev/null || true # ldd fails where a library is missing
awk '/=> not found/ {print $1}' "$scratch/ldd" | sort -u >"$scratch/sonames"
awk '$2 == "=>" && $3 ~ /^\// {print $3}' "$scratch/ldd" | sort -u >"$scratch/found"
if [[ ! -s $scratch/sonames ]]; then
    echo "torch-cuda-stubs: no library is missing"
    exit 0
fi
if grep -vE '^lib(cu|nccl|nv)' "$scratch/sonames" >&2; then
    echo "torch-cuda-stubs: these are missing and not CUDA's, so no stub can stand in for them" >&2
    exit 1
fi

# Undefined in torch and defined nowhere is what CUDA would define; Py* comes from the interpreter.
nm -D "${libs[@]}" | awk '$1 == "U" {print $2}' | sed 's/@.*//' | sort -u >"$scratch/undefined"
xargs nm -D --defined-only "${libs[@]}" <"$scratch/found" | awk 'NF == 3 {print $3}' |
    sed 's/@.*//' | sort -u >"$scratch/defined"
comm -23 "$scratch/undefined" "$scratch/defined" | grep -vE '^_?Py|^__tls_get_addr$' >"$scratch/missing"

# 100 is cudaErrorNoDevice, and an error to every other CUDA library as well.
awk '/Get(Error|Status)(String|Name)$|GetLastErrorString$/ {
         print "const char *" $1 "(void) { return \"CUDA is not installed (stub)\"; }"; next
     }
     /GetVersion$/ { print "long " $1 "(void) { return 0; }"; next }
     { print "long " $1 "(void) { return 100; }" }' "$scratch/missing" >"$scratch/stub.c"
{ echo "$stub"; cat "$scratch/sonames"; } >"$made"
gcc -w -shared -fPIC -O1 -Wl,-soname,"$stub" -o "$stub" "$scratch/stub.c"
# Not links: the loader refuses an unversioned symbol found in the very file its version was asked of.
while read -r soname; do
    gcc -shared -Wl,-soname,"$soname" -Wl,--no-as-needed -Wl,-rpath,\$ORIGIN -o "$soname" "$stub"
done <"$scratch/sonames"
echo "torch-cuda-stubs: $(wc -l <"$scratch/missing") symbols for $(wc -l <"$scratch/sonames") libraries"
