import dataclasses
import math

RAMP = {3: 0.01, 6: 0.05}


@dataclasses.dataclass(frozen=True)
class Plan:
    experts: int = 4
    width: int = 8
    slack: float = 1.25
    slots: int = 0
    balance: float = 0.0

    def sized_for(self, live):
        slots = math.ceil(self.slack * live / self.experts)
        return dataclasses.replace(self, slots=max(2, slots))

    def with_balance(self, b):
        return dataclasses.replace(self, balance=b)


def follow(base, it):
    for start, v in RAMP.items():
        if it >= start:
            base = base.with_balance(v)
    return base
