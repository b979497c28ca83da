"""mlir_parse.py FILE: at each line of input, microseconds of CPU that MLIR's own reader needs for that
bytecode: ten readings into a new context each, as a plugin reads what it is to compile, then ten into one
that holds all its types and attributes from the reading before; one figure each, and an empty line."""
import os
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu"
from jax._src.interpreters import mlir  # noqa: E402
from jaxlib.mlir import ir  # noqa: E402

data = open(sys.argv[1], "rb").read()


def read():
    begin = time.thread_time()
    module = ir.Module.parse(data)
    took = time.thread_time() - begin
    del module
    return took * 1e6


kept = mlir.make_ir_context()
for _ in sys.stdin:
    for _ in range(10):
        with mlir.make_ir_context():
            print(read())
    with kept:
        for _ in range(10):
            print(read())
    print(flush=True)
