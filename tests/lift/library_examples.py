"""The libraries' own example programs with --lift: runs each of them on the CPU backend, plain and with --lift, and compares what
they print. The programs are not part of this repository: FOLDER has checkouts of optax, flax, equinox, dm-haiku and numpyro. These
are the examples that download nothing; notebooks are run as scripts. PYTHON has the libraries and matplotlib; numpyro's examples
also need funsor and seaborn, and ask for the version of numpyro that they come with.

numpyro's examples run three times in one process, each time with other seeds: so the data differ, which NUTS compiles into its
programs. The text has a checksum of all samples too. Texts are compared without times. An example that fails without --lift, for
want of a package or of a feature of its version of the library, is reported and does not count, nor does one whose text differs
between two runs without --lift.

usage: library_examples.py BUILD PYTHON FOLDER [WORD…]     only examples whose path has one of the words"""
import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

MCMC = ["--num-samples", "40", "--num-warmup", "40", "--num-chains", "1"]
EXAMPLES = [
    *[(f"optax/examples/{name}.ipynb", []) for name in (
        "flax_example", "freezing_parameters", "gradient_accumulation_and_microbatching", "lbfgs",
        "linear_assignment_problem", "meta_learning", "ogda_example", "perturbations", "contrib/muon",
        "contrib/rosenbrock_ademamix", "contrib/sam")],
    *[(f"flax/examples/nnx_toy_examples/{name}.py", []) for name in (
        "01_functional_api", "02_lifted_transforms", "03_train_state", "06_scan_over_layers", "07_array_leaves",
        "09_parameter_surgery")],
    *[(f"equinox/docs/examples/{name}.ipynb", []) for name in (
        "frozen_layer", "init_apply", "serialisation", "stateful", "train_rnn")],
    ("dm-haiku/examples/haiku_lstms.ipynb", []),
    *[(f"numpyro/examples/{name}.py", more) for name, more in (
        ("annotation", MCMC), ("ar2", [*MCMC, "--num-data", "30"]), ("bnn", [*MCMC, "--num-data", "30"]),
        ("dais_demo", ["--num-svi-steps", "40", "--num-warmup", "40", "--num-samples", "40"]), ("funnel", MCMC),
        ("gp", [*MCMC, "--num-data", "15"]), ("hmm", [*MCMC, "--num-supervised", "20", "--num-unsupervised", "30"]),
        ("holt_winters", [*MCMC, "--T", "2"]), ("horseshoe_regression", [*MCMC, "--num-data", "30"]), ("minipyro", []),
        ("neutra", ["--num-samples", "40", "--num-warmup", "40", "--num-iters", "50", "--hidden-factor", "2"]),
        ("proportion_test", MCMC[:4]), ("sparse_regression", [*MCMC, "--num-data", "20", "--num-dimensions", "4"]),
        ("toy_mixture_model_discrete_enumeration", ["-n", "40"]), ("var2", [*MCMC, "--num-data", "20"]))],
]
PASSES = {"numpyro": 3}
LIMIT_S = 900
# Two runs of one example must be equal, so NumPy's global generator gets a seed. Seeds of a later pass are larger.
START = """import hashlib, os, random, runpy, sys
import jax, numpy
passes = int(sys.argv[1])
sys.argv = sys.argv[2:]
sys.path[0] = os.path.dirname(sys.argv[0])
shift = 0
def shifted(make):
    return lambda seed, **more: make(seed + shift, **more)
numpy.random.seed, jax.random.key, jax.random.PRNGKey = map(shifted, (numpy.random.seed, jax.random.key, jax.random.PRNGKey))
if passes > 1:
    from numpyro.infer import MCMC
    sample = MCMC.run
    def run(self, *args, **more):
        sample(self, *args, **more)
        leaves = [numpy.asarray(x) for x in jax.tree.leaves(self.get_samples())]
        print("samples", hashlib.sha256(b"".join(x.tobytes() for x in leaves)).hexdigest())
    MCMC.run = run
for shift in range(passes):
    numpy.random.seed(0), random.seed(shift)
    runpy.run_path(sys.argv[0], run_name="__main__")"""


def script_of(path, folder):
    """The file to run: the code cells of a notebook, without commands of IPython."""
    if path.suffix != ".ipynb":
        return path
    lines = ["import IPython.display, matplotlib", "matplotlib.use('Agg')"]
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] == "code":
            source = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
            lines += [line for line in source.splitlines() if not line.lstrip().startswith(("%", "!"))]
    script = folder / (path.stem + ".py")
    script.write_text("\n".join(lines) + "\n")
    return script


def without_times(text):
    """Progress bars, durations, addresses and temporary names differ from run to run."""
    text = re.sub(r".*\r", "", text)
    text = re.sub(r"elapsed time: [\d.]+", "TIME", text)
    text = re.sub(r"\d+(\.\d+)?(e-\d+)? ?(s\b|ms\b|sec\b|secs\b|seconds\b|it/s)", "TIME", text)
    return re.sub(r"0x[0-9a-f]{6,}|/tmp/\S+", "PLACE", text)


def run(stet, python, script, arguments, passes, folder, name, *options):
    """Exit code, what it printed, and how its compiles were served."""
    environment = dict(os.environ, STET_STATE_DIR=str(folder / name), MPLBACKEND="Agg")
    environment.pop("STET_LIFT", None)
    where = folder / (name + ".work")
    where.mkdir()
    command = [stet, "run", "--cpu", "--no-store", *options, "--", python, "-c", START, str(passes), script, *arguments]
    child = subprocess.Popen(command, cwd=where, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             start_new_session=True)
    try:
        output, errors = child.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        return None, "", f"TimeoutError: more than {LIMIT_S} s", {}
    shown = subprocess.run([stet, "show", "--format=json"], env=environment, cwd=where, capture_output=True,
                           text=True, check=False)
    processes = json.loads(shown.stdout)["processes"] if shown.returncode == 0 else []
    served = collections.Counter(c["served"] for p in processes for c in p["compiles"])
    return child.returncode, without_times(output), errors, served


def try_example(stet, python, path, arguments):
    """Prints a row; False if --lift changed something, None if that is not known."""
    label = str(path.relative_to(path.parents[len(path.parts) - 1 - path.parts.index("examples")]))
    passes = next((n for library, n in PASSES.items() if library in path.parts), 1)
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        how = stet, python, script_of(path, folder), arguments, passes, folder
        code, text, errors, before = run(*how, "plain")
        if code != 0:
            last = [line for line in errors.splitlines() if re.match(r"[\w.]*(Error|Exception)\b", line)][-1:]
            print(f"{label:60} not run: {last[0][:100] if last else code}", flush=True)
            return None
        lifted_code, lifted_text, _, after = run(*how, "lifted", "--lift")
        again = run(*how, "again")[1] if text != lifted_text else text
    same = lifted_code == 0 and text == lifted_text
    random = text != again  # two plain runs differ
    print(f"{label:60} {before['compiled']:5} {after['compiled']:7} {after['lifted']:7}   "
          f"{'same text' if same else 'two plain runs differ too' if random else 'DIFFERENT'}", flush=True)
    return None if random and lifted_code == 0 else same


def main():
    stet, python = pathlib.Path(sys.argv[1]).resolve() / "bin" / "stet", os.path.abspath(sys.argv[2])
    root, words = pathlib.Path(sys.argv[3]).resolve(), sys.argv[4:]
    chosen = [(root / path, more) for path, more in EXAMPLES if not words or any(w in path for w in words)]
    print(f"{'example':60} plain  --lift  lifted   output")
    found = [try_example(stet, python, path, more) for path, more in chosen]
    ran = [ok for ok in found if ok is not None]
    print(f"{len(ran)} of {len(found)} examples were compared, {sum(ran)} have the same results")
    sys.exit(not ran or not all(ran))


if __name__ == "__main__":
    main()
