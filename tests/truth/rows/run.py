"""Runs the programs of this folder under Stet and compares live events, summary and `stet explain` with
expected.py.

    run.py BUILD_DIR ENVIRONMENTS [--lane jax|torchxla|torchtpu] [--only ROW_OR_PROGRAM] [--show]

h_kernel.py, which no CPU backend runs, is compared by `stet diff` of its two lowered programs.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import expected

HERE = pathlib.Path(__file__).resolve().parent


def line_of(program, text):
    lines = (HERE / program).read_text().splitlines()
    found = [n for n, line in enumerate(lines, 1) if text in line]
    assert found, f"{program} has no line with {text!r}"
    return found


def at(place):
    return place and place["line"]


def fits(want, finding, program):
    lines = line_of(program, want.line)
    said = (finding["evidence"] or "") + (finding["fix"] or "")
    return (finding["class"] in want.causes.split() and
            any(at(finding[k]) in lines for k in ("origin", "source", "trigger")) and
            (not want.edit or at(finding["source"]) in line_of(program, want.edit)) and
            all(w in said for w in want.words))


def short(finding):
    return f"{finding['class']} of {finding['function']} at {at(finding['origin'])}: {finding['evidence']}"


class Launch:
    def __init__(self, row, build, python, state):
        stet = build / "bin" / "stet"
        env = dict(os.environ, STET_STATE_DIR=str(state), STET_STORE=str(state) + "/store", PYTHONDONTWRITEBYTECODE="1")
        if row.platforms:
            env["JAX_PLATFORMS"] = row.platforms
        events = pathlib.Path(state) / "events.json"
        run = subprocess.run([stet, "run", "--cpu", f"--json-events={events}", "--", python, HERE / row.program],
                             cwd=HERE, env=env, capture_output=True, text=True)
        self.live = run.stderr
        assert run.returncode == 0, run.stderr
        self.text = subprocess.run([stet, "explain"], env=env, capture_output=True, text=True).stdout
        json_text = subprocess.run([stet, "explain", "--format=json"], env=env, capture_output=True, text=True).stdout
        self.findings = [r for r in json.loads(json_text)["recompiles"] if not r["benign"]]
        told = [json.loads(line) for line in events.read_text().splitlines()]
        self.events = [r for r in told if not r["benign"]]


def problems_of(row, launch):
    out = []
    for f in launch.findings:
        if not any(fits(w, f, row.program) for w in row.wants):
            out.append(f"unexpected: {short(f)}")
    for w in row.wants:
        if not any(fits(w, f, row.program) for f in launch.findings):
            out.append(f"missing: {w}")
    accepted = {c for w in row.wants for c in w.causes.split()}
    out += [f"live: {short(e)}" for e in launch.events if e["class"] not in accepted]
    out += [f"the summary lacks {text!r}" for text in row.summary if text not in launch.live]
    out += [f"{text!r} is in the output" for text in row.never if text in launch.live + launch.text]
    return out


def answer(launch):
    return [(f["class"], f["function"], at(f["origin"]), f["evidence"]) for f in launch.findings]


def check(row, build, environments, show):
    python = environments / row.lane / "bin" / "python"
    with tempfile.TemporaryDirectory(prefix="stet-rows.") as state:
        launches = [Launch(row, build, python, state) for _ in range(row.launches)]
    if show:
        print(launches[-1].live + launches[-1].text)
    out = problems_of(row, launches[0])
    if any(answer(later) != answer(launches[0]) for later in launches[1:]):
        out.append(f"cold {answer(launches[0])}, warm {answer(launches[1])}")
    return out


def check_kernel(build, environments):
    """Row H: the body of a kernel follows from the size that changed, and is not printed."""
    with tempfile.TemporaryDirectory(prefix="stet-rows.") as folder:
        subprocess.run([environments / "jax" / "bin" / "python", HERE / "h_kernel.py", folder],
                       check=True, env=dict(os.environ, JAX_PLATFORMS="cpu"), capture_output=True)
        sizes, body = (subprocess.run([build / "bin" / "stet", "diff", "--all", f"{folder}/small.mlir",
                                       f"{folder}/{other}.mlir"], capture_output=True, text=True).stdout
                       for other in ("large", "other"))
    out = [] if sizes.startswith("shape-drift") and "graph-change" not in sizes else [f"other size: {sizes}"]
    out += [] if body.startswith("graph-change") and "a kernel of" in body else [f"other body: {body}"]
    return out + [f"the body is printed: {text}" for text in (sizes, body) if "custom_call_config" in text]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("environments", type=pathlib.Path)
    parser.add_argument("--lane", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--show", action="store_true")
    a = parser.parse_args()
    build, environments = a.build.resolve(), a.environments.absolute()
    failed = 0
    checks = [(row.row, row.program, lambda row=row: check(row, build, environments, a.show))
              for row in expected.ROWS if a.lane in ("", row.lane)]
    if a.lane in ("", "jax"):
        checks.append(("H", "h_kernel.py", lambda: check_kernel(build, environments)))
    for row, program, run in checks:
        if a.only and a.only not in row.split(", ") and a.only not in program:
            continue
        problems = run()
        failed += bool(problems)
        print(f"{row:8} {program:20} {'; '.join(problems) or 'right'}", flush=True)
    sys.exit(failed != 0)


main()
