"""Code under a test for compiling that another file has: it runs in eager mode alone."""
import functools

import jax
import own_tests
import torch
from own_tests import Space, capturing, in_graph, on_server, outside, running


def checked(x):
    return x.sum().item()  # clean: host-sync


def unchecked(x):
    return x.sum().item()  # expect: host-sync


class Guarded(torch.nn.Module):
    def forward(self, x: torch.Tensor, limit: int):
        if not capturing():
            if x.max() > 3:  # clean: value-branch
                x = x.clamp(max=3)
        if limit and not in_graph() and x.min() < 0:  # clean: value-branch
            raise ValueError("negative")
        if own_tests.capturing():
            x = x.abs()
        else:
            x = x[x > 0]  # clean: mask-gather
            checked(x)
        if capturing():
            x = x[x > 1]  # expect: mask-gather
            unchecked(x)
        return x


class Unguarded(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        if not on_server():
            if x.max() > 3:  # expect: value-branch
                x = x.clamp(max=3)
        if not running():
            if x.max() > 4:  # expect: value-branch
                x = x.clamp(max=4)
        return x


@jax.jit
def early(x):
    if outside(x):
        return x.sum().item()  # clean: host-sync
    if not outside(x):
        return x.sum()
    else:
        return x.max().item()  # clean: host-sync


@jax.jit
def late(x):
    if not outside(x):
        return x.sum().item()  # expect: host-sync
    return x


class Grid(Space):
    @functools.partial(jax.jit, static_argnums=0)
    def flat(self, x):  # clean: static-self
        return x.reshape(-1)


class Lone(own_tests.Plain):
    @functools.partial(jax.jit, static_argnums=0)
    def flat(self, x):  # expect: static-self
        return x.reshape(-1)
