"""Receding-horizon loop: simulate an hour, score it, nudge the burner plan."""
import torch

import settings
from cost import tracking_cost
from plant import Lining, ZoneCell


def plan_generator(n, seed):
    g = torch.Generator().manual_seed(seed)
    for _ in range(n):
        yield torch.rand(settings.HORIZON, settings.BURNERS, generator=g)


class Controller:
    def __init__(self, cell):
        self.cell = torch.compile(cell, backend="eager")
        self.lining = Lining()
        self.target = torch.linspace(0.6, 1.0, settings.ZONES)
        self.rate = 0.2

    def hour(self, temp, plan):
        plan = plan.clone().requires_grad_(True)
        state = temp.detach().requires_grad_(True)
        for u in plan.unbind(0):
            state = self.cell(state, u)
        cost = tracking_cost(state, self.target, plan)
        cost.backward()
        with torch.no_grad():
            plan -= self.rate * plan.grad
        self.lining.record(state)
        return temp.lerp(state.detach(), 0.5), cost.detach()


def main():
    torch.manual_seed(1)
    cell = ZoneCell()
    ctl = Controller(cell)
    temp = torch.full((settings.ZONES,), 0.5)
    costs = []
    for hour, plan in enumerate(plan_generator(8, seed=9), 1):
        temp, cost = ctl.hour(temp, plan)
        costs.append(cost)
        ctl.rate *= 0.95
        if hour % settings.REPORT_EVERY == 0:
            print(f"hour {hour}: cost {float(cost):.4f}, peak {float(ctl.lining.peak):.3f}")
            settings.SMOOTHING = settings.SMOOTHING * 0.8
    print("mean cost", float(torch.stack(costs).mean()))


if __name__ == "__main__":
    main()
