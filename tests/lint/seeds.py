"""Splits cases/ into small files for fuzz_lint to start from: each definition of its own, under the imports
it uses. Whole files are too long for a fuzzer to change much of in a second.

usage: seeds.py FOLDER
"""
import ast
import os
import sys

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases")
LONGEST = 1024


def pieces(text):
    tree = ast.parse(text)
    lines = text.splitlines(keepends=True)
    cut = lambda node: "".join(lines[min([node.lineno] + [d.lineno for d in getattr(node, "decorator_list", [])])
                                     - 1:node.end_lineno])
    imports = [n for n in tree.body if isinstance(n, (ast.Import, ast.ImportFrom))]
    for node in tree.body:
        if node in imports:
            continue
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        used = [i for i in imports
                if names & {(a.asname or a.name).split(".")[0] for a in i.names}]
        yield "".join(map(cut, used)) + cut(node)


def main():
    os.makedirs(sys.argv[1], exist_ok=True)
    for name in sorted(os.listdir(CASES)):
        with open(os.path.join(CASES, name), encoding="utf-8") as f:
            text = f.read()
        found = pieces(text) if name.endswith(".py") else text.split("\n\n")
        for number, piece in enumerate(found):
            if len(piece) <= LONGEST:
                with open(os.path.join(sys.argv[1], f"{name}-{number}"), "w", encoding="utf-8") as f:
                    f.write(piece)


if __name__ == "__main__":
    main()
