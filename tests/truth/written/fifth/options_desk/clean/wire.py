"""Messages as they arrive from the desks, and what we turn them into."""
from __future__ import annotations

import dataclasses
import json

import numpy as np

LADDER = 5


@dataclasses.dataclass
class PricingRequest:
    ref: str
    spot: float
    strikes: np.ndarray
    vol_pct: np.ndarray
    rate: float


def _strikes(field):
    """Ladders carry a list, RFQs a bare number."""
    if not isinstance(field, list):
        field = [field]
    return np.asarray((field + [field[-1]] * LADDER)[:LADDER], dtype=np.float32)


class VolBook:
    """Latest flat surface (five tenors) per vendor, in percent."""

    def __init__(self):
        self._quotes = {}

    def on_quote(self, vendor, quotes):
        self._quotes[vendor] = np.asarray(quotes, dtype=np.float32)

    def get(self, vendor):
        return self._quotes[vendor]


def decode(line: str, vols: VolBook) -> PricingRequest:
    msg = json.loads(line)
    return PricingRequest(
        ref=msg["ref"],
        spot=float(msg["spot"]),
        strikes=_strikes(msg["strike"]),
        vol_pct=vols.get(msg.get("vendor", "tullet")),
        rate=msg.get("rate", 0.02),
    )
