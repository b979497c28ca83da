"""mlir_parse.py FILE: microseconds of CPU MLIR's own reader needs for that bytecode, median of 300."""
import os
import statistics
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu"
from jax._src.interpreters import mlir  # noqa: E402
from jaxlib.mlir import ir  # noqa: E402

data = open(sys.argv[1], "rb").read()
took = []
with mlir.make_ir_context():
    for _ in range(300):
        begin = time.thread_time()
        module = ir.Module.parse(data)
        took.append(time.thread_time() - begin)
        del module
print(statistics.median(took) * 1e6)
