"""Annotations: what a class is decides, not what it is called."""
import dataclasses
import enum
import functools

import jax
import torch

from annotations_types import Leaves, Weather


class AmountConfig:
    """Called as settings are, but arrays flow into it."""


class Mode(enum.Enum):
    FAST = 1


@dataclasses.dataclass(frozen=True)
class Batch:
    """Called as data is, but it holds Python values alone."""

    depth: int
    mode: Mode
    name: "str | None" = None


Grid = jax.Array


def scaled(x, amount: AmountConfig):
    if amount > 0:  # expect: value-branch
        x = x * 2
    return x


def deep(x, batch: Batch):
    depth = batch.depth
    if depth > 3:  # clean: value-branch
        x = x * 2
    return x


def warm(x, weather: Weather):
    degrees = weather.degrees
    if degrees > 30:  # clean: value-branch
        x = x * 2
    return x


def grown(x, leaves: Leaves):
    area = leaves.area
    if area > 30:  # expect: value-branch
        x = x * 2
    return x


@jax.jit
def forward(x):
    return scaled(x, x.sum())


deepest = jax.jit(functools.partial(deep, batch=Batch(2, Mode.FAST)))
warmest = jax.jit(functools.partial(warm, weather=Weather(3)))
largest = jax.jit(grown)


@torch.compile
def quoted(x: "torch.Tensor", grid: Grid):
    if x.sum() > 0:  # expect: value-branch
        x = x + 1
    if grid.sum() > 0:  # expect: value-branch
        x = x + 2
    return x
