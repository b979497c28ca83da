"""Variants of a trap script, so that nothing can be tuned to one file.

    generate.py SCRIPT [--seed N] [--kind renamed|reshuffled|embedded]      prints the variant

renamed: every name of the script's own is another one, and sizes differ. reshuffled: definitions stand
in another order, among comments, and sizes differ. embedded: renamed, reshuffled, and part of a bigger
script whose own models train before, after and within the trap's loop (PyTorch's before and after: what
runs within a loop of PyTorch/XLA is part of its graph). Marks of lines, and names in the header, go along.
"""

import argparse
import ast
import pathlib
import random
import re

KINDS = ("renamed", "reshuffled", "embedded")
WORDS = """amber basin cedar delta ember fjord grove haven inlet jetty karst lagoon marsh nectar orchid pebble
quartz ridge slate thorn umber vale willow yarrow zephyr birch cliff dune fern glade heath isle knoll
loam moss oasis plume reef shale tundra vista wharf aspen brook copse drift eddy flint gorge hedge""".split()
SIZE = re.compile(r"^([A-Z_]+) = ([0-9.]+)  # size: (.*)$", re.M)
HERE = pathlib.Path(__file__).parent


def resize(source, rng):
    """Another value for every constant that says which values it may have."""

    def choose(match):
        name, now, choices = match.groups()
        span = re.fullmatch(r"(\d+)\.\.(\d+) by (\d+)", choices)
        values = [str(v) for v in range(int(span[1]), int(span[2]) + 1, int(span[3]))] if span else choices.split()
        others = [v for v in values if v != now] or values
        return f"{name} = {rng.choice(others)}  # size: {choices}"

    return SIZE.sub(choose, source)


class Names(ast.NodeVisitor):
    """The names that a script defines itself, and where they stand."""

    def __init__(self, source):
        self.lines = source.splitlines()
        self.own, self.kept, self.places = set(), {"self", "main", "_"}, []
        tree = ast.parse(source)
        self.local = {n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
        self.visit(tree)

    def place(self, name, line, column):
        # Columns of the syntax tree count bytes; the scripts are ASCII.
        self.places.append((line, column, name))

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Store):
            self.own.add(node.id)
        self.place(node.id, node.lineno, node.col_offset)

    def visit_arg(self, node):
        self.own.add(node.arg)
        self.place(node.arg, node.lineno, node.col_offset)
        self.generic_visit(node)

    def definition(self, node):
        line = self.lines[node.lineno - 1]
        column = line.index(node.name, node.col_offset + len("def "))
        if not (node.name.startswith("__") or self.inside_class):
            self.own.add(node.name)
            self.place(node.name, node.lineno, column)

    inside_class = False

    def visit_FunctionDef(self, node):
        self.definition(node)
        was, self.inside_class = self.inside_class, False
        self.generic_visit(node)
        self.inside_class = was

    def visit_ClassDef(self, node):
        self.definition(node)
        for statement in node.body:  # fields of a class are attributes elsewhere
            if isinstance(statement, ast.AnnAssign):
                self.kept.add(statement.target.id)
        self.inside_class = True
        self.generic_visit(node)
        self.inside_class = False

    def visit_Global(self, node):
        self.kept.update(node.names)

    def visit_Call(self, node):
        ours = isinstance(node.func, ast.Name) and node.func.id in self.local
        for keyword in node.keywords:
            if keyword.arg is None:
                continue
            if ours and keyword.arg not in self.kept:
                self.place(keyword.arg, keyword.lineno, keyword.col_offset)
            elif keyword.arg == "static_argnames":
                for string in ast.walk(keyword.value):
                    if isinstance(string, ast.Constant):
                        self.place(string.value, string.lineno, string.col_offset + 1)
            else:
                self.kept.add(keyword.arg)
        self.generic_visit(node)


def rename(source, rng):
    names = Names(source)
    own = sorted(names.own - names.kept)
    words = rng.sample(WORDS, len(WORDS)) + [a + "_" + b for a in WORDS for b in rng.sample(WORDS, 3)]
    to = dict(zip(own, words, strict=False))
    for name in own:
        if name.isupper():
            to[name] = to[name].upper()
        elif name[0].isupper():
            to[name] = to[name].capitalize()
    lines = source.splitlines()
    for line, column, name in sorted(set(names.places), reverse=True):
        text = lines[line - 1]
        if name in to:
            assert text[column:].startswith(name), (line, column, name, text)
            lines[line - 1] = text[:column] + to[name] + text[column + len(name) :]
    for i, line in enumerate(lines):
        if not line.startswith("# "):
            break
        if line.startswith("# function:"):
            lines[i] = "# function: " + to.get(line[12:], line[12:])
        elif line.startswith("# fix:"):
            lines[i] = re.sub(r"`(\w+)`", lambda m: "`" + to.get(m[1], m[1]) + "`", line)
    return "\n".join(lines) + "\n"


def parts(source):
    """The header, imports and constants (also those that stand between definitions); the definitions;
    and what runs them."""
    tree = ast.parse(source)
    lines = source.splitlines()
    cuts = []
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            first = min([node.lineno] + [d.lineno for d in node.decorator_list])
            cuts.append((first - 1, node.end_lineno))
    between = [n for n in tree.body if isinstance(n, ast.Assign) and cuts[0][1] < n.lineno <= cuts[-1][0]]
    head = "\n".join(lines[: cuts[0][0]]).rstrip()
    for node in between:
        head += "\n" + "\n".join(lines[node.lineno - 1 : node.end_lineno])
    bodies = ["\n".join(lines[a:b]) for a, b in cuts]
    return head, bodies, "\n".join(lines[cuts[-1][1] :]).strip()


def with_remarks(body, rng):
    """The same code with remarks between its lines, so that every line number moves."""
    out = []
    for line in body.splitlines():
        whole = re.match(r"( +)(\w+ = |return )", line)
        if whole and rng.random() < 0.4 and not re.search(r"[(\[{,]$", out[-1] if out else "("):
            out.append(whole[1] + "# " + " ".join(rng.sample(WORDS, 3)))
        out.append(line)
    return "\n".join(out)


def assembled(head, bodies, tail):
    return "\n\n\n".join([head, *bodies, tail]) + "\n"


def reshuffle(source, rng):
    head, bodies, tail = parts(source)
    rng.shuffle(bodies)
    return assembled(head, [with_remarks(b, rng) for b in bodies], tail)


def side_folder(source):
    """What may stand around a trap, of its framework."""
    if "import torch\n" not in source:
        return HERE / "side"
    return HERE / "side" / ("torch_xla" if "import torch_xla\n" in source else "torchtpu")


def embed(source, rng):
    """Among other models: side/*.py hold what may stand around a trap."""
    head, bodies, tail = parts(source)
    torch = "import torch\n" in source
    on_cpu = "# run: libtpu" not in source
    sides = rng.sample(sorted(side_folder(source).glob("*.py")), 3)
    blocks, calls, states = [], [], []
    for path in sides:
        text = path.read_text()
        blocks.extend(parts(text)[1])
        states.extend(re.findall(r"^[A-Z]+ = \[\]$", text, re.M))
        calls.append(path.stem)
    bodies = [b.replace("def main():", "def experiment():") for b in bodies]
    if on_cpu and not torch:
        within = calls[1]
        bodies = [within_loop(b, within) if "def experiment():" in b else b for b in bodies]
    bodies += blocks
    rng.shuffle(bodies)
    run = ["    " + calls[0] + "(3)", "    experiment()", "    " + calls[2] + "(2)"]
    main = "def main():\n" + "\n".join(run if on_cpu else run[1:2])
    wanted = [] if torch else ["import jax", "import jax.numpy as jnp", "import numpy as np"]
    imports = [l for l in wanted if l not in head]
    return assembled("\n".join([head, *imports, *states]), [with_remarks(b, rng) for b in bodies] + [main], tail)


def within_loop(body, side):
    """The side model also takes a step in every turn of the trap's first loop."""
    loop = next(n for n in ast.walk(ast.parse(body)) if isinstance(n, ast.For))
    lines = body.splitlines()
    first = loop.body[0]
    lines.insert(first.lineno - 1, " " * first.col_offset + side + "(1)")
    return "\n".join(lines)


def variant(source, kind, seed):
    rng = random.Random(f"{seed}:{kind}")
    source = resize(source, rng)
    if kind != "reshuffled":
        source = rename(source, rng)
    if kind == "reshuffled":
        source = reshuffle(source, rng)
    if kind == "embedded":
        source = embed(source, rng)
    return source


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("script")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=KINDS, default="renamed")
    args = parser.parse_args()
    print(variant(pathlib.Path(args.script).read_text(), args.kind, args.seed), end="")


if __name__ == "__main__":
    main()
