"""mlir_parse.py FILE: at each line of input, microseconds of CPU that MLIR's own reader needs for that
bytecode: ten readings, one figure each, and an empty line."""
import os
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu"
from jax._src.interpreters import mlir  # noqa: E402
from jaxlib.mlir import ir  # noqa: E402

data = open(sys.argv[1], "rb").read()
with mlir.make_ir_context():
    for _ in sys.stdin:
        for _ in range(10):
            begin = time.thread_time()
            module = ir.Module.parse(data)
            took = time.thread_time() - begin
            del module
            print(took * 1e6)
        print(flush=True)
