"""Numbers that shape a lazy graph: runs every LAZY operation of src/python/library.def under PyTorch/XLA with three
numbers, and expects a program for each; and plain arithmetic with three numbers, which is one program.

usage: lazy_ops.py LIBRARY_DEF      (PyTorch/XLA's Python, PJRT_DEVICE=CPU)

An operation in the list that has no line here fails, and so does a line for one that is not in it.
"""
import re
import sys

import torch
import torch.nn.functional as F
import torch_xla

SHAPED = {
    "chunk": lambda x, n: x.chunk(n)[0] + 1,
    "diag": lambda x, n: torch.diag(x, n),
    "diag_embed": lambda x, n: torch.diag_embed(x, n),
    "diagonal": lambda x, n: x.diagonal(n) + 1,
    "expand": lambda x, n: x[:1].expand(n, 12) + 1,
    "flip": lambda x, n: x.reshape(1, 2, 6, 1, 12).flip(n),
    "kthvalue": lambda x, n: x.kthvalue(n)[0],
    "movedim": lambda x, n: x.reshape(2, 3, 2, 3, 4).movedim(0, n) + 1,
    "narrow": lambda x, n: x.narrow(0, n, 4) + 1,
    "one_hot": lambda x, n: F.one_hot(torch.zeros_like(x, dtype=torch.long), n),
    "pad": lambda x, n: F.pad(x, (n, 0)),
    "permute": lambda x, n: x.reshape(2, 2, 3, 2, 6).permute(n, *[d for d in range(5) if d != n]) + 1,
    "pow": lambda x, n: x.pow(n),
    "repeat": lambda x, n: x.repeat(1, n),
    "repeat_interleave": lambda x, n: x.repeat_interleave(n, dim=0),
    "reshape": lambda x, n: x.reshape(n, -1) + 1,
    "roll": lambda x, n: x.roll(n, 1),
    "rot90": lambda x, n: torch.rot90(x, n),
    "select": lambda x, n: x.select(0, n) + 1,
    "select_scatter": lambda x, n: x.select_scatter(x[0], 0, n),
    "slice_scatter": lambda x, n: x.slice_scatter(x[:4], 0, n, n + 4),
    "split": lambda x, n: x.split(n)[0] + 1,
    "tensor_split": lambda x, n: x.tensor_split(n)[0] + 1,
    "tile": lambda x, n: x.tile(1, n),
    "transpose": lambda x, n: x.reshape(2, 2, 3, 2, 6).transpose(0, n) + 1,
    "tril": lambda x, n: x.tril(n),
    "triu": lambda x, n: x.triu(n),
    "unfold": lambda x, n: x.unfold(0, n, 1) + 1,
    "view": lambda x, n: x.view(n, -1) + 1,
}
PASSED = {
    "add": lambda x, n: torch.add(x, x, alpha=n),
    "clamp": lambda x, n: x.clamp(max=0.3 * n),
    "masked_fill": lambda x, n: x.masked_fill(x > 0, float(n)),
    "mul": lambda x, n: x * n,
}
NUMBERS = (2, 3, 4)


def programs(function):
    """How many programs three numbers take: the keys that PyTorch/XLA looks a graph up by."""
    x = torch.ones(12, 12, device="xla")
    torch_xla.sync()
    return len({torch_xla._XLAC._get_graph_hash([function(x, n)]) for n in NUMBERS})


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        listed = set(re.findall(r'^LAZY\("(\w+)"\)', f.read(), re.M))
    bad = 0
    for name in sorted(listed ^ set(SHAPED)):
        bad += 1
        print(f"{name}: {'no line here' if name in listed else 'not in the list'}")
    for name, function in {**SHAPED, **PASSED}.items():
        got, wanted = programs(function), len(NUMBERS) if name in SHAPED else 1
        if got != wanted:
            bad += 1
            print(f"{name}: {got} programs for {NUMBERS}, expected {wanted}")
    print(f"{len(SHAPED)} operations shaped by a number, {len(PASSED)} to which it is passed, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
