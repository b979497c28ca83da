"""Runs the commands of golden files and compares what they print.

usage: run.py BUILD_DIR [--update] [--sanitized] FILE...

A file is a list of cases; everything up to the first "$ " is comment:

    $ stet diff data/base.mlirbc data/lr.mlirbc
    what it prints on standard output
    ! what it prints on standard error
    [1]

Commands run under sh in this folder with the build's programs first on PATH, without colours, in a state of the file's own; the
exit code stands in brackets, and is left out when it is 0. "..." as a line of its own stands for any
lines, and "..." within a line for any text. --update writes the files anew from what is printed. A sanitized layer
can't be loaded into other programs: with --sanitized, cases that launch one are left to the other builds.
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def cases(text):
    """Comment, then (command, expected lines) each."""
    head, found = [], []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
        else:
            head.append(line)
    for _, lines in found:
        while lines and not lines[-1].strip():
            lines.pop()
    return head, found


def run(build, state, command):
    env = dict(os.environ, NO_COLOR="1", LC_ALL="C.UTF-8", TZ="UTC")
    env["PATH"] = os.path.join(build, "bin") + os.pathsep + env["PATH"]
    env["STET_STATE_DIR"] = state
    done = subprocess.run(["sh", "-c", command], cwd=HERE, env=env, capture_output=True, timeout=60)
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    lines += ["! " + line for line in done.stderr.decode("utf-8", "replace").splitlines()]
    if done.returncode:
        lines.append(f"[{done.returncode}]")
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def matches(expected, got):
    pattern = []
    for line in expected:
        if line == "...":
            pattern.append(r"(?:.*\n)*?")
        else:
            pattern.append(".*?".join(re.escape(part) for part in line.split("...")) + "\n")
    return re.fullmatch("".join(pattern), "".join(line + "\n" for line in got)) is not None


def check(build, state, path, update):
    with open(path, encoding="utf-8") as f:
        head, found = cases(f.read())
    failed, written = 0, list(head)
    if "--sanitized" in sys.argv:
        found = [case for case in found if "stet run -- " not in case[0]]
    for command, expected in found:
        got = run(build, state, command)
        fine = matches(expected, got)
        written += ["$ " + command] + (expected if fine else got) + [""]
        if fine or update:
            continue
        failed += 1
        print(f"{path}\n$ {command}\n--- expected\n" + "\n".join(expected))
        print("--- got\n" + "\n".join(got))
    if update:
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n".join(written).rstrip() + "\n")
    print(f"{os.path.basename(path)}: {len(found) - failed} of {len(found)} as expected")
    return failed or not found


def main():
    args = [a for a in sys.argv[1:] if a not in ("--update", "--sanitized")]
    results = []
    for path in args[1:]:
        with tempfile.TemporaryDirectory() as state:  # its own: the latest run is nobody else's
            results.append(check(os.path.abspath(args[0]), state, path, "--update" in sys.argv))
    return 1 if any(results) or not results else 0


if __name__ == "__main__":
    sys.exit(main())
