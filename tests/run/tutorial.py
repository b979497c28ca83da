"""docs/tutorial.md, command by command: what the page shows is what the commands print.

    tutorial.py BUILD_DIR PYTHON            runs every command of the page and compares
    tutorial.py BUILD_DIR PYTHON --update   writes today's output into the page

A block that begins with ```console holds commands ("$ …"), each followed by its output. Run ids, times, which of two
times is longer, and build ids are masked. The order of lines does not count: causes are listed by cost, which varies.
In a block that begins with ```console live, the output depends on when a cause is known, so the commands only run."""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "tutorial.md"
BLOCK = re.compile(r"(^```console( live)?\n)(.*?)(^```$)", re.M | re.S)
VARIES = [
    (re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}"), "RUN"),
    (re.compile(r" *\d+(\.\d+)? (ns|us|ms|s)\b"), " TIME"),
    (re.compile(r", longer than compiling \( TIME\)"), " instead of TIME"),  # a load of a tiny program may take longer
    (re.compile(r'"[0-9a-f]{40}"'), "BUILD"),
]


def masked(lines):
    for pattern, word in VARIES:
        lines = [pattern.sub(word, line) for line in lines]
    return sorted(line.rstrip() for line in lines)


def commands(block):
    """Pairs of a command and the lines below it."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
    return found


class Shell:
    def __init__(self, build, python, folder):
        shutil.copytree(ROOT / "examples", folder / "examples")
        self.folder = folder
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("STET", "JAX", "XLA"))}
        self.environment.update(
            PATH=f"{build}/bin:{pathlib.Path(python).parent}:{self.environment['PATH']}",
            STET_STATE_DIR=str(folder / "state"), STET_STORE=str(folder / "store"), NO_COLOR="1")

    def run(self, command):
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, timeout=120)
        return done.stdout.splitlines()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("python")
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    text, wrong, count = PAGE.read_text(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(args.build.resolve(), os.path.abspath(args.python), pathlib.Path(folder))

        def again(match):
            nonlocal wrong, count
            lines = []
            for command, shown in commands(match[3]):
                printed = shell.run(command)
                count += 1
                lines += [f"$ {command}", *printed]
                if not match[2] and not args.update and masked(printed) != masked(shown):
                    wrong += 1
                    print(f"$ {command}\n-- the page has\n" + "\n".join(shown) + "\n-- it prints\n" + "\n".join(printed))
            return match[1] + "".join(line + "\n" for line in lines) + match[4]

        updated = BLOCK.sub(again, text)
    if args.update:
        PAGE.write_text(updated)
    print(f"{count} commands, {wrong} print something else than docs/tutorial.md shows")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
