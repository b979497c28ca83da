"""Y: fields of a tuple, a mask that is reduced, a number that follows from how large something is, a calendar that may
be missing, and a Python number that becomes a NumPy one."""
import functools
from collections import namedtuple

import jax
import jax.numpy as jnp
import numpy as np

Day = namedtuple("Day", "demand seats")


class Bus:
    def __init__(self):
        self.draw = np.random.default_rng(4)
        self.riders = self.draw.uniform(0.1, 1.0, (20, 2))
        self.bias = 0.0
        self.closed = (3, 6, 8)

    def aboard(self, day):
        riders = self.riders
        if day in self.closed:
            riders = riders[(riders > 0.05 * day).all(axis=1)]
        return riders

    def day(self, day):
        seats = self.draw.uniform(1, 2, 5)
        return Day(self.aboard(day).astype(np.float32), seats.astype(np.float32))

    def holidays(self, first, last):
        if last <= 9:
            return None
        return self.riders[first:last, 0].astype(np.float32)

    def learn(self, load):
        self.bias = np.float32(0.5 * self.bias + 0.1 * float(load))


@jax.jit
def board(demand, seats):
    return jnp.sum(demand) / jnp.sum(seats)


@functools.partial(jax.jit, static_argnames="stops")
def route(load, *, stops):
    return jnp.linspace(0.0, load, stops).sum()


@jax.jit
def plan(load, holidays):
    return 0.5 * load if holidays is None else load * jnp.mean(holidays)


@jax.jit
def correct(load, bias):
    return load - bias


def stops_for(tickets):
    return 4 + len(tickets) // 3


bus, tickets, total = Bus(), [], 0.0
for day in range(12):
    today = bus.day(day)
    load = board(today.demand, today.seats)
    if day % 4 == 3:
        tickets.extend(["single", "single", "return"])
    far = route(load, stops=stops_for(tickets))
    busy = plan(load, bus.holidays(day - 2, day))
    total += float(correct(far + busy, bus.bias))
    if day == 5:
        bus.learn(total)
print(total)
