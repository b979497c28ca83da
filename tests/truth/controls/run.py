#!/usr/bin/env python3
"""Runs public example programs under `stet run --cpu` and collects what `stet explain` answers.

    python3 tests/truth/controls/run.py STET PYTHON REPOSITORIES OUT [--only NAME,…] [--again]

STET is the command, PYTHON an interpreter that has the libraries (README.md). REPOSITORIES holds the
repositories of programs.py, each as a git repository in the folder owner+name, owner+name/repo or name. OUT gets a
folder for each program (the script as it ran, standard error, both forms of the answer) and results.json."""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import programs

HERE = pathlib.Path(__file__).resolve().parent
LIMIT = 300  # seconds; ends a program that hangs


def repository(root, name):
    owner, short = name.split("/")
    for folder in (f"{owner}+{short}/repo", f"{owner}+{short}", short):
        if (root / folder).is_dir():
            return root / folder
    raise SystemExit(f"{root} has no repository {name}")


def git(repo, *words):
    return subprocess.run(["git", "-C", str(repo), *words], check=True, capture_output=True).stdout


def code_cells(text):
    """The code of a notebook, one cell after the other, without the lines that are IPython's own."""
    cells = [c for c in json.loads(text)["cells"] if c["cell_type"] == "code"]
    return "\n\n".join("".join(c["source"]) for c in cells)


def code_blocks(text):
    """The code cells of a MyST page; one that is meant to fail may do so."""
    head = re.compile(r"\A(?:---\n(?:[^\n]*\n)*?---\n|(?::\w+:[^\n]*\n)*)")
    cells = []
    for block in re.findall(r"^```\{code-cell\}[^\n]*\n(.*?)^```", text, re.M | re.S):
        cell = head.sub("", block)
        if "raises-exception" in head.match(block).group():
            lines = "\n".join("  " + line for line in cell.splitlines())
            cell = f"try:\n{lines}\nexcept Exception as error:\n  print(error)\n"
        cells.append(cell)
    return "\n\n".join(cells)


def plain_python(text):
    return "\n".join("" if re.match(r"\s*[%!]", line) else line for line in text.splitlines()) + "\n"


def extract(program, root, folder):
    """Writes the program and what it imports from its own repository; returns the path of the script."""
    repo = repository(root, program.repo)
    names = git(repo, "ls-tree", "-r", "--name-only", program.commit, *program.beside).decode().split()
    for name in [program.path] + [n for n in names if n.endswith(".py")]:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(git(repo, "show", f"{program.commit}:{name}"))
    script = folder / program.path
    text = script.read_text()
    if script.suffix == ".ipynb":
        text = plain_python(code_cells(text))
    elif script.suffix == ".md":
        text = plain_python(code_blocks(text))
    for pattern, instead in program.shorten:
        text, count = re.subn(pattern, instead, text, flags=re.M)
        if not count:
            raise SystemExit(f"{program.name}: nothing matches {pattern!r}")
    script = script.with_suffix(".py")
    script.write_text(text + program.append)
    return script


def environment(folder):
    return dict(os.environ, PYTHONPATH=f"{HERE / 'site-packages'}:{folder / 'source'}", MPLBACKEND="Agg",
                PYTHONWARNINGS="ignore", STET_STATE_DIR=str(folder / "state"))


def run(program, args, folder):
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "run").mkdir(parents=True)
    source = folder / "source"
    script = extract(program, args.repositories, source)
    env = environment(folder)
    command = [args.python, str(script), *program.args.split()]
    start = time.time()
    with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as err:
        try:
            rc = subprocess.run([args.stet, "run", "--cpu", "--no-store", f"--json-events={folder}/events", "--",
                                 *command], cwd=folder / "run", env=env, stdout=out, stderr=err,
                                timeout=LIMIT).returncode
        except subprocess.TimeoutExpired:
            rc = None
    took = time.time() - start
    explain(args, folder, env)
    return {"name": program.name, "rc": rc, "seconds": round(took, 1), **counts(folder)}


def explain(args, folder, env):
    for name, words in (("explain.json", ["--format=json"]), ("explain.txt", [])):
        with open(folder / name, "wb") as out:
            subprocess.run([args.stet, "explain", *words], cwd=folder / "run", env=env, stdout=out,
                           stderr=subprocess.DEVNULL)


def counts(folder):
    try:
        answer = json.loads((folder / "explain.json").read_text())
    except ValueError:
        return {"compiles": None}
    told = [r for r in answer["recompiles"] if not r["benign"]]
    live = len(re.findall(r"^stet: [a-z].*(?:compiled again|first compiled)",
                          (folder / "stderr").read_text(errors="replace"), re.M))
    return {"compiles": answer["compiles"], "live": live, "told": len(told),
            "stories": len(answer.get("stories", [])) if "stories" in answer else None,
            "wait_s": round(answer["wait_s"], 3)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stet", type=os.path.abspath)
    parser.add_argument("python")
    parser.add_argument("repositories", type=pathlib.Path)
    parser.add_argument("out", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--only", help="names of programs, separated by commas")
    parser.add_argument("--explain", action="store_true", help="run nothing; explain the recorded runs again")
    parser.add_argument("--again", action="store_true", help="also run programs that have results")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    store = args.out / "results.json"
    results = json.loads(store.read_text()) if store.exists() else {}
    only = args.only.split(",") if args.only else None
    for program in programs.PROGRAMS:
        if args.explain and program.name in results:
            explain(args, args.out / program.name, environment(args.out / program.name))
            results[program.name].update(counts(args.out / program.name))
            store.write_text(json.dumps(results, indent=1))
            continue
        if args.explain or (only and program.name not in only) or (not only and program.name in results and not args.again):
            continue
        result = run(program, args, args.out / program.name)
        results[program.name] = result
        store.write_text(json.dumps(results, indent=1))
        print(" ".join(f"{k}={v}" for k, v in result.items()), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
