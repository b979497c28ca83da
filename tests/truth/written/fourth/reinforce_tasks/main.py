import torch

from agents import KLAgent
from worlds import TASKS, PointWorld, rollout


def curriculum(days):
    """first week: easy task only, then one after another"""
    names = list(TASKS)
    for day in range(days):
        yield day, names[0] if day < 5 else names[(day - 5) % len(names)]


def main(days=24):
    torch.manual_seed(21)
    agent = KLAgent(3, 3)
    for day, name in curriculum(days):
        agent.learn(rollout(PointWorld(name, day), agent))
    print({k: round(v, 3) for k, v in agent.ema.items()})


if __name__ == "__main__":
    main()
