"""Names of libraries: what a name resolves to decides, not how it is spelled."""
import dataclasses
import functools
import os as system
from dataclasses import dataclass as record
from os import environ as settings

import equinox as eqx
import jax
import jax.numpy as jnp
import torch
from equinox import tree_at as replaced
from jax.experimental import pallas
from jax.experimental.pallas import pallas_call as hand_written
from torch.compiler import is_compiling as under_compiler

tracing = torch.jit.is_tracing


def is_compiling():
    """The user's own, about something else."""
    return system.path.exists("lock")


def traced_by_any(x):
    return isinstance(x, torch.Tensor) and torch.compiler.is_compiling()


def eager(x):
    return not torch.compiler.is_compiling()


def tree_at(where, tree, value):
    """The user's own: it changes nothing."""
    return tree


def pallas_call(kernel, **shapes):
    return kernel


@torch.compile
def own_name(x: torch.Tensor):
    if not is_compiling() and (x > 0).all():  # expect: value-branch
        x = x + 1
    return x


@torch.compile
def other_names(x: torch.Tensor):
    if not under_compiler() and (x > 0).all():  # clean: value-branch
        x = x + 1
    if not tracing() and (x > 1).all():  # clean: value-branch
        x = x + 1
    if not traced_by_any(x) and (x > 2).all():  # clean: value-branch
        x = x + 1
    if under_compiler():
        x = x * 2
    else:
        print(x.max().item())  # clean: host-sync, traced-print
    return x


@torch.compile
def negated_inside(x: torch.Tensor):
    if not eager(x) and (x > 0).all():  # expect: value-branch
        x = x + 1
    return x


@torch.compile
def attribute_of_an_object(x: torch.Tensor, plan):
    if not plan.under_compiler() and (x > 0).all():  # expect: value-branch
        x = x + 1
    return x


class Free:
    """The word frozen elsewhere in this file decides nothing about it."""

    frozen = True

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, x):  # expect: static-self
        return x


@dataclasses.dataclass(frozen=True)
class Frozen:
    width: int

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, x):  # clean: static-self
        return x * self.width


@dataclasses.dataclass(frozen=False)
class Thawed:
    width: int

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, x):  # expect: static-self
        return x * self.width


@record(frozen=True)
class Renamed:
    width: int

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, x):  # clean: static-self
        return x * self.width


@dataclasses.dataclass(frozen=False)
class Melted:
    width: int

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, x):  # expect: static-self
        return x * self.width


@dataclasses.dataclass(frozen=False, unsafe_hash=True)
class Hashed:
    width: int

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, x):  # clean: static-self
        return x * self.width


@dataclasses.dataclass(frozen=True, eq=False)
class Identity:
    width: int

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, x):  # expect: static-self
        return x * self.width


class Below(Frozen):
    @functools.partial(jax.jit, static_argnums=0)
    def more(self, x):  # clean: static-self
        return x + self.width


class Layer(eqx.Module):
    width: int

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, x):  # clean: static-self
        return x * self.width


def dataclass(**options):
    """The user's own decorator: it leaves the class as it is."""
    return lambda made: made


@dataclass(frozen=True)
class Unchanged:
    @functools.partial(jax.jit, static_argnums=0)
    def step(self, x):  # expect: static-self
        return x


def copy_kernel(x_ref, out_ref):
    out_ref[...] = x_ref[...]


def copied(x):
    return pallas.pallas_call(copy_kernel, out_shape=x)(x)


@jax.jit
def with_kernels(x, size):
    if x.shape[0] % 128 == 0:  # expect: kernel-fallback
        x = hand_written(copy_kernel, out_shape=x)(x)
    if x.shape[0] % 64 == 0:  # expect: kernel-fallback
        x = copied(x)
    if x.shape[0] % 32 == 0:  # clean: kernel-fallback
        x = pallas_call(jnp.sin)(x)
    return x


def switches_on():
    settings["JAX_DISABLE_JIT"] = "1"  # expect: debug-flags
    settings.setdefault("JAX_DEBUG_NANS", "True")  # expect: debug-flags
    system.putenv("JAX_DISABLE_JIT", "1")  # expect: debug-flags


def not_the_environment(environ):
    environ["JAX_DISABLE_JIT"] = "1"  # clean: debug-flags


class Scaled(eqx.Module):
    rate: float
    other: float

    @jax.jit
    def apply(self, x):
        if self.rate:  # expect: late-branch
            x = x * 2
        if self.other:  # clean: late-branch
            x = x * 3
        return x


def anneal(x):
    model = Scaled(0.1, 0.2)
    for i in range(10):
        model = replaced(lambda m: m.rate, model, i * 0.1)
        model = tree_at(lambda m: m.other, model, i * 0.1)
        model.apply(x)
