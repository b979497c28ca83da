#!/bin/sh
export XLA_HLO_DEBUG=1  # expect: debug-flags
XLA_FLAGS="--xla_dump_to=/tmp/dump" python train.py  # expect: debug-flags
export JAX_COMPILATION_CACHE_DIR=gs://bucket/cache  # expect: remote-cache-path
export XLA_HLO_DEBUG=0  # clean: debug-flags
export JAX_COMPILATION_CACHE_DIR=/var/cache/jax  # clean: remote-cache-path
export DATA=gs://bucket/data  # clean: remote-cache-path
export TORCH_NCCL_BLOCKING_WAIT=1  # expect: barrier-in-step
HIP_LAUNCH_BLOCKING=1 python train.py  # expect: barrier-in-step
export TORCH_NCCL_BLOCKING_WAIT=0  # clean: barrier-in-step
# export NCCL_BLOCKING_WAIT=1  # clean: barrier-in-step
export PT_XLA_DEBUG_LEVEL=2  # expect: debug-flags
