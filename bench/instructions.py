"""Counts the instructions of one call of the functions that bench rows measure, in two trees.

    python3 bench/instructions.py OTHER_TREE THIS_TREE      (tools/bench-against.sh --instructions sets the environment)

Each bench program runs under callgrind until it has printed the row named below, so both trees
have made the same calls. Counts do not depend on what else the machine does.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

# program, the row after which it is stopped (None: it runs to its end), and what is counted in it:
# the row's name and the function, which may have another name in an older tree.
PROGRAMS = (
    ("bench_reader", "reader.read+fingerprints", (
        ("reader.read", ("stet_decode_bytecode",)),
        ("reader.fingerprints", ("stet_fingerprint_make",)),
    )),
    ("bench_diff", "diff.10000-operations", (("diff, 1,000 and 10,000 operations", ("stet_diff_make",)),)),
    ("bench_explain", "explain.shape.against-1000-programs", (
        ("explain: decode", ("stet_decode",)),
        ("explain: fingerprint and prepare", ("stet_side_prepare",)),
        ("explain: compare with the nearest", ("stet_history_add",)),
        ("explain: judge one program", ("stet_history_judge_from",)),
    )),
    ("bench_gate", None, (("gate: decode and judge", ("stet_intercept_contract_refuse", "stet_contract_refuse")),)),
)


def run(tree, program, last, folder):
    """Leaves callgrind's files of the program and its forked children in `folder`."""
    command = ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={folder}/%p.out",
               f"build/release/bin/{program}"]
    with subprocess.Popen(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as child:
        for line in child.stdout:
            if last and f'"bench":"{last}"' in line:
                child.terminate()  # callgrind writes its file all the same
                break
        child.stdout.read()


def calls(folder):
    """function -> (calls, instructions in them and in all that they call)"""
    found = {}
    for path in glob.glob(f"{folder}/*.out"):
        names, callee, count = {}, None, 0
        for line in open(path, errors="replace"):
            if match := re.match(r"c?fn=(\(\d+\))(?: (.*))?", line):
                name = names.setdefault(match[1], match[2] or "")
                if line.startswith("c"):
                    callee = name
            elif line.startswith("calls="):
                count = int(line[6:].split()[0])
            elif count:
                # a clone that the compiler made for one caller counts as the function
                name = re.sub(r"(\.(constprop|isra|part|cold|lto_priv)\.?\d*)+$|'\d+$", "", callee)
                before = found.get(name, (0, 0))
                found[name] = (before[0] + count, before[1] + int(line.split()[1]))
                count = 0
    return found


def main():
    trees = sys.argv[1:3]
    print(f"{'instructions per call':36} {'other tree':>14} {'this tree':>14}   ratio   calls")
    for program, last, rows in PROGRAMS:
        found = []
        for tree in trees:
            with tempfile.TemporaryDirectory() as folder:
                run(tree, program, last, folder)
                found.append(calls(folder))
        for row, functions in rows:
            counts = [next((f[name] for name in functions if name in f), (0, 0)) for f in found]
            if not all(number for number, _ in counts):
                sys.exit(f"{program}: {functions[0]} was not called in both trees")
            each = [total / number for number, total in counts]
            print(f"{row:36} {each[0]:14,.0f} {each[1]:14,.0f} {each[1] / each[0]:7.3f}   {counts[0][0]:,} and {counts[1][0]:,}",
                  flush=True)


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C")
    main()
