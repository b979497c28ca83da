import sys

import torch

import config
from cloud import Cloud
from solver import deposit, push, relax


def run(cfg, out=sys.stdout):
    cloud = Cloud(cfg)
    n = cfg["grid"]
    field = torch.zeros(n, n)
    dt = torch.tensor(cfg["dt"])
    tol = torch.tensor(cfg["relax_tol"])
    for frame in range(cfg["frames"]):
        source = deposit(cloud.pos, n)
        for _ in range(cfg["sweeps"]):
            field, residual = relax(field, source, tol)
        cloud.advance(*push(*cloud.state(), field, dt))
        if frame % cfg["split_every"] == cfg["split_every"] - 1:
            cloud.split(cfg["split_share"])
        spread = cloud.pos.std().item()
        print(f"{frame:2d} particles {len(cloud):4d} residual {residual:.4f} spread {spread:.4f}", file=out)


if __name__ == "__main__":
    with torch.no_grad():
        run(config.load(**dict(a.split("=", 1) for a in sys.argv[1:])))
