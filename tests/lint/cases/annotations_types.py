"""Classes that annotations.py imports."""
import dataclasses

import jax


@dataclasses.dataclass(frozen=True)
class Weather:
    degrees: float


@dataclasses.dataclass(frozen=True)
class Leaves:
    area: jax.Array
