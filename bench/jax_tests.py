"""JAX's own tests on XLA's CPU and on the embedded CPU backend.

usage: jax_tests.py CHECKOUT [--python=P] [--files=a,b] [--seed=N] [--most=N] [--side=both|xla|stet|strict] [--json=FILE]

CHECKOUT is a checkout of jax-ml/jax at the tag of the installed JAX; only its tests/ is used. By default a
sample of at most 250 tests of each file below. Prints one line a file, then the tests that pass on XLA's
CPU and not here, each with its reason.
"""
import argparse
import pathlib
import sys

import side_by_side as side

FILES = """lax_test lax_numpy_test lax_control_flow_test lax_autodiff_test nn_test random_test lax_scipy_test
shard_map_test pjit_test linalg_test sparse_test api_test lax_vmap_test lax_numpy_reducers_test
lax_numpy_indexing_test lax_numpy_operators_test lax_numpy_einsum_test scipy_stats_test scipy_fft_test fft_test
dtypes_test image_test batching_test jet_test ode_test sparse_bcoo_bcsr_test svd_test qdwh_test
custom_linear_solve_test checkify_test python_callback_test debugging_primitives_test pmap_test array_test
multi_device_test scipy_signal_test scipy_ndimage_test scipy_optimize_test scipy_interpolate_test
scipy_spatial_test random_lax_test lax_scipy_special_functions_test stax_test tree_util_test
memories_test ffi_test export_test shape_poly_test jax_to_ir_test for_loop_test""".split()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--python", type=pathlib.Path, default=side.ROOT / "build/env/jax/bin/python")
    parser.add_argument("--files", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=250)
    parser.add_argument("--cases", type=int, default=2, help="generated cases of each test (JAX_NUM_GENERATED_CASES)")
    parser.add_argument("--side", default="both", choices=["both", "xla", "stet", "strict"])
    parser.add_argument("--timeout", type=int, default=1800, help="seconds for a file on one side")
    parser.add_argument("--json", help="write all outcomes there")
    return parser.parse_args()


def main():
    args = arguments()
    sides = {"both": [side.XLA, side.BACKEND], "xla": [side.XLA], "stet": [side.BACKEND], "strict": [side.XLA, side.STRICT]}[args.side]
    environment = {"JAX_NUM_GENERATED_CASES": str(args.cases), "JAX_SKIP_SLOW_TESTS": "1"}
    wanted = args.files.split(",") if args.files else [f for f in FILES if (args.checkout / f"tests/{f}.py").exists()]
    total, kept, data, left = {s.name: 0.0 for s in sides}, [0, 0], {}, []
    for name in wanted:
        results = [side.run(s, args.python.absolute(), [f"tests/{name}.py"], args.checkout, args.seed, args.most, args.timeout, environment.items())
                   for s in sides]
        line = [f"{name:34}"]
        for s, r in zip(sides, results):
            total[s.name] += r.cpu
            line.append(f"{r.count('passed'):5} passed {r.count('failed'):3} failed {r.count('crashed'):2} crashed {r.count('skipped'):4} skipped {r.cpu:7.1f} CPU s")
        if len(sides) == 2:
            lost = side.differing(*results)
            kept[0] += results[0].count("passed")
            kept[1] += len(lost)
            left += [(name, test, *why) for test, why in sorted(lost.items())]
            line.append(f"{len(lost):3} lost")
        print(" | ".join(line), flush=True)
        if not results[-1].outcomes:
            print(results[-1].output[-1500:], flush=True)
        if args.json:
            side.save(args.json, data)
        data[name] = {s.name: {"outcomes": r.outcomes, "reasons": r.reasons, "cpu_s": r.cpu, "clock_s": r.clock} for s, r in zip(sides, results)}
    print(", ".join(f"{name}: {cpu:.1f} CPU s" for name, cpu in total.items()))
    if len(sides) == 2 and kept[0]:
        print(f"{kept[0] - kept[1]} of the {kept[0]} tests that pass on XLA:CPU pass here ({100 * (kept[0] - kept[1]) / kept[0]:.2f} %)")
    for name, test, outcome, why in left:
        print(f"  {outcome} {test}\n      {why}")
    if args.json:
        side.save(args.json, data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
