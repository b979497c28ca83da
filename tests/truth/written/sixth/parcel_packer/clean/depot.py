"""Night shift of a parcel depot: pick the better of two load plans per truck."""
import random
from dataclasses import dataclass, field

import torch

SIDE = 6


@torch.compile(backend="eager")
def settle(grid, weight):
    """Let the height map of one pallet settle under its own weight."""
    pad = torch.nn.functional.pad(grid[None, None], (1, 1, 1, 1), mode="replicate")[0, 0]
    mean = (pad[:-2, 1:-1] + pad[2:, 1:-1] + pad[1:-1, :-2] + pad[1:-1, 2:]) / 4
    sag = torch.sigmoid(weight) * 0.2
    return grid + sag * (mean - grid)


@torch.compile(backend="eager")
def score_load(pallets, axle):
    """Centre of mass of the whole truck against the axle, and wasted height."""
    mass = torch.stack([p.sum() for p in pallets])
    where = torch.linspace(0.0, 1.0, len(pallets))
    com = (mass * where).sum() / mass.sum()
    waste = torch.stack([p.max() - p.mean() for p in pallets]).sum()
    return (com - axle).abs() + 0.1 * waste


@dataclass
class Plan:
    grid: torch.Tensor
    weight: torch.Tensor
    turned: bool = False


@dataclass
class Truck:
    plate: str
    axle: torch.Tensor
    loads: list = field(default_factory=list)


def surface(plan):
    """Height map as the camera over the ramp sees it."""
    return plan.grid.t().contiguous() if plan.turned else plan.grid


class Yard:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.gen = torch.Generator().manual_seed(seed)
        self.serial = 0

    def _pallet(self):
        grid = torch.rand(SIDE, SIDE, generator=self.gen)
        return Plan(grid, torch.randn((), generator=self.gen), turned=self.rng.random() < 0.25)

    def trucks(self, n):
        for _ in range(n):
            self.serial += 1
            axle = torch.tensor(self.rng.uniform(0.4, 0.6))
            truck = Truck(f"KA-{self.serial:03d}", axle)
            count = 3
            for _ in range(2):
                pallets = [self._pallet() for _ in range(count)]
                truck.loads.append(pallets)
            yield truck


class Shift:
    def __init__(self, yard):
        self.yard = yard
        self.log = []
        self.passes = 2

    def evaluate(self, truck, load):
        settled = []
        for plan in load:
            h = surface(plan)
            for _ in range(self.passes):
                h = settle(h, plan.weight)
            settled.append(h.contiguous())
        return score_load(settled, truck.axle)

    def work(self, n):
        for truck in self.yard.trucks(n):
            costs = torch.stack([self.evaluate(truck, load) for load in truck.loads])
            self.log.append((truck.plate, costs))
            # a busy yard settles less carefully; plain Python loop, eager
            self.passes = 1 if len(self.log) > n // 2 else 2


def main():
    shift = Shift(Yard(seed=4))
    shift.work(12)
    for plate, costs in shift.log:
        print(plate, "plan", "AB"[int(costs.argmin())], [round(c, 3) for c in costs.tolist()])


if __name__ == "__main__":
    main()
