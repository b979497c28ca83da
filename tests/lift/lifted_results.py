"""What the tests of lifting share: a run of a script by `stet run`, and the comparison of two runs. A result is
named FUNCTION.VALUE….

usage: lifted_results.py PLAIN.npz LIFTED.npz     with NumPy: prints the comparison as JSON"""
import collections
import json
import os
import subprocess
import sys

Run = collections.namedtuple("Run", "results served errors log")


def run(build, command, folder, name, *options, **variables):
    """Runs `command RESULTS` and returns the file of results, how the compiles of each function were served
    (functions of the script; single operations are left out), standard error and the layer's log."""
    log, results, stet = folder / (name + ".log"), folder / (name + ".npz"), build / "bin" / "stet"
    environment = dict(os.environ, STET_STATE_DIR=str(folder / name), STET_LOG=str(log),
                       TORCHINDUCTOR_CACHE_DIR=str(folder / name / "torch"))
    environment.update({k: str(v) for k, v in variables.items()})
    environment.pop("STET_LIFT", None)
    done = subprocess.run([stet, "run", *options, "--", *command, results], env=environment, cwd=folder,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(done.stdout[-5000:] + done.stderr[-5000:])
    shown = subprocess.run([stet, "show", "--format=json"], env=environment, cwd=folder,
                           capture_output=True, text=True, check=True)
    compiles = [compile for process in json.loads(shown.stdout)["processes"] for compile in process["compiles"]
                if not compile["operation"]]
    served, functions = collections.defaultdict(collections.Counter), functions_of(compiles)
    for compile in compiles:
        name = function_of(compile) if compile["trigger"] else functions[compile["name"]]
        served[name][compile["served"]] += 1
    return Run(results, served, done.stderr, log.read_text() if log.exists() else "")


def function_of(compile):
    return compile["trigger"]["function"].split(".")[-1]


def functions_of(compiles):
    """The function that compiles each program, by the program's name. A busy thread may end a compile before its
    stack could be read: it is counted where the other compiles of its name are, if that is one place."""
    functions = collections.defaultdict(set)
    for compile in compiles:
        functions[compile["name"]].update([function_of(compile)] if compile["trigger"] else [])
    for compile in compiles:
        if not compile["trigger"] and len(functions[compile["name"]]) != 1:
            raise AssertionError(f"{compile['name']}: no trigger, {compile.get('no_trigger_because')}")
    return {name: next(iter(found)) for name, found in functions.items()}


def numerics(python, plain, lifted):
    """For each function: how many results there are, the names of those that differ, and by how many units in
    the last place at most; None for a difference that is not one of rounding."""
    done = subprocess.run([python, __file__, plain, lifted], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def compare(python, plain, lifted):
    """The names of results that differ."""
    return [name for row in numerics(python, plain, lifted).values() for name in row["different"]]


def table(title, rows):
    """Prints a row of each function: compiles without --lift, with it, with it in a second run that has new
    values, and numerics."""
    print(f"\n{title:30} plain   --lift   lifted   remembered   results")
    for name, (plain, lifted, again, found) in rows.items():
        far = found["ulp"]
        word = ("bit-equal" if not found["different"] else
                f"{len(found['different'])} differ, " + ("not by rounding" if far is None else f"by {far} ulp"))
        print(f"{name:30} {plain['compiled']:5} {lifted['compiled']:8} {lifted['lifted']:8} "
              f"{'' if again is None else again['compiled']!s:>12}   {found['results']} {word}", flush=True)


def distance(a, b):
    """Units in the last place between two arrays of floats, None if that has no meaning."""
    import numpy as np
    whole = {2: np.int16, 4: np.int32, 8: np.int64}.get(a.dtype.itemsize)
    if a.dtype != b.dtype or a.shape != b.shape or a.dtype.kind != "f" or np.any(np.isnan(a) != np.isnan(b)):
        return None
    x, y = (np.nan_to_num(v, nan=0.0, posinf=np.inf, neginf=-np.inf).view(whole).astype(object) for v in (a, b))
    least = np.iinfo(whole).min
    x, y = (np.where(v < 0, least - v, v) for v in (x, y))
    return int(np.max(np.abs(x - y), initial=0))


def main():
    import numpy as np
    plain, lifted = (np.load(path) for path in sys.argv[1:])
    rows = {}
    for name in sorted(set(plain.files) | set(lifted.files)):
        row = rows.setdefault(name.split(".")[0], {"results": 0, "different": [], "ulp": 0})
        row["results"] += 1
        both = name in plain.files and name in lifted.files
        if both and plain[name].tobytes() == lifted[name].tobytes() and plain[name].dtype == lifted[name].dtype:
            continue
        row["different"].append(name)
        far = distance(plain[name], lifted[name]) if both else None
        row["ulp"] = None if far is None or row["ulp"] is None else max(far, row["ulp"])
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
