"""Names of Python, NumPy and torch that this file defines itself, and theirs under other names: what
a name denotes decides, not how it is spelled."""
import builtins
from builtins import float as number

import jax
import jax.numpy as jnp
import torch
import torch_xla
from jax.lax import top_k as best
from torch import arange as steps
from torch.nn.utils.rnn import pack_padded_sequence as packed

whole = int
show = print  # its own, below


def topk(x, k):
    """The user's own: a table, not the largest elements."""
    return x[:4]


def flash_attn_varlen_func(q, cu_seqlens):
    """The user's own: a fixed layout."""
    return q


def float(x):
    return x * 2


def print(x):
    return x


def open(x):
    return x


def zeros(n):
    return torch.ones(4)


def isinstance(x, kind):
    return x > 0


def nonzero(x):
    return x * 2


class Cell:
    """The user's own: methods with the names of tensors' and containers'."""

    def __init__(self, x):
        self.x = x

    def item(self):
        return self.x

    def cpu(self):
        return self

    def block_until_ready(self):
        return self

    def get(self, key):
        return self.x


@jax.jit
def own_functions(x, y):
    a = topk(x, y.shape[0] // 2)  # clean: topk-k
    b = float(x)  # clean: host-sync
    print(x)  # clean: traced-print
    open(x)  # clean: traced-side-effect
    c = flash_attn_varlen_func(x, y)  # clean: varlen
    d = nonzero(x)  # clean: mask-gather
    return a, b, c, d, zeros(y.shape[0])


@jax.jit
def own_methods(x):
    cell = Cell(x)
    a = cell.item()  # clean: host-sync
    b = cell.cpu()  # clean: host-sync
    c = cell.block_until_ready()  # clean: host-sync
    if cell.get("mask") is not None:  # clean: optional-key
        a = a + 1
    return a, b, c


@jax.jit
def other_names(x, y):
    a = number(x.sum())  # expect: host-sync
    b = whole(x[0])  # expect: host-sync
    show(x)  # clean: traced-print
    return a, b, best(x, a)  # expect: topk-k


@torch.compile
def torch_names(x: torch.Tensor, lengths: torch.Tensor):  # expect: compile-on-xla
    builtins.print("here")  # expect: traced-print
    y = packed(x, lengths)  # expect: varlen
    return y, steps(lengths.max().item())  # expect: host-sync, size-from-value


def main(model, data, range):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for n in range(4):
        for x in data:
            loss = model(x).roll(n, 0).sum()  # clean: baked-constant
            loss.backward()
            optimizer.step()
            torch_xla.sync()


def main_counted(model, data):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for n in builtins.range(4):
        loss = model(data).roll(n, 0).sum()  # expect: baked-constant
        loss.backward()
        optimizer.step()
        torch_xla.sync()
