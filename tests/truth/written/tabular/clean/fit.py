"""Fits a multilayer perceptron to a table, by hand-written Adam."""
import argparse
import dataclasses
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp

from table import Loader, Table


@dataclasses.dataclass(frozen=True)
class Hyper:
    rate: float = 3e-3
    beta1: float = 0.9
    beta2: float = 0.999
    decay: float = 1e-4
    epsilon: float = 1e-8


class State(NamedTuple):
    params: list
    m: list
    v: list
    count: jax.Array


def make_params(key, sizes):
    params = []
    for inner, outer in zip(sizes[:-1], sizes[1:]):
        key, sub = jax.random.split(key)
        params.append({"w": jax.random.normal(sub, (inner, outer)) / inner ** 0.5,
                       "b": jnp.zeros(outer)})
    return params


def predict(params, x):
    *hidden, last = params
    for layer in hidden:
        x = jax.nn.gelu(x @ layer["w"] + layer["b"])
    return (x @ last["w"] + last["b"])[:, 0]


def mse(params, x, y):
    return jnp.mean((predict(params, x) - y) ** 2)


@functools.partial(jax.jit, static_argnames="hyper")
def update(state, x, y, rate, hyper):
    loss, grads = jax.value_and_grad(mse)(state.params, x, y)
    count = state.count + 1
    m = jax.tree.map(lambda m, g: hyper.beta1 * m + (1 - hyper.beta1) * g, state.m, grads)
    v = jax.tree.map(lambda v, g: hyper.beta2 * v + (1 - hyper.beta2) * g * g, state.v, grads)
    def move(p, m, v):
        m = m / (1 - hyper.beta1 ** count)
        v = v / (1 - hyper.beta2 ** count)
        return p - rate * (m / (jnp.sqrt(v) + hyper.epsilon) + hyper.decay * p)
    return State(jax.tree.map(move, state.params, m, v), m, v, count), loss


@jax.jit
def score(params, x, y):
    return jnp.sum((predict(params, x) - y) ** 2)


def evaluate(state, loader):
    total = sum(score(state.params, x, y) for x, y in loader)
    return float(total) / len(loader.table)


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--patience", type=float, default=0.0)
    return parser.parse_args()


def main():
    args = parse()
    train, held = Table(args.rows, 12, 0).split(0.64)
    hyper, rate = Hyper(), Hyper.rate
    params = make_params(jax.random.key(1), [12, 32, 32, 1])
    zeros = jax.tree.map(jnp.zeros_like, params)
    state = State(params, zeros, zeros, jnp.zeros((), jnp.int32))
    best = float("inf")
    for epoch in range(args.epochs):
        for x, y in Loader(train, args.size):
            state, loss = update(state, x, y, rate, hyper)
        error = evaluate(state, Loader(held, args.size, shuffle=False))
        print(f"epoch {epoch}: train {float(loss):.3f} held {error:.3f}")
        if error * args.patience > best:
            break
        best = min(best, error)
        rate *= 0.7


if __name__ == "__main__":
    main()
