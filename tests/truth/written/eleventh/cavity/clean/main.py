import argparse

import jax
import jax.numpy as jnp
import numpy as np

from probes import Rake
from solver import Controller, Fluid, advect, project


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=36)
    ap.add_argument("--n", type=int, default=32)
    ap.add_argument("--dt-every", type=int, default=15)
    ap.add_argument("--rake-every", type=int, default=8)
    return ap.parse_args()


@jax.jit
def speed(u, v):
    s = jnp.sqrt(u**2 + v**2)
    return s.max(), s.mean()


def main():
    args = parse()
    ctl = Controller(Fluid(n=args.n))
    rake = Rake(args.n, args.rake_every, shift=5)
    u = v = p = np.zeros((args.n, args.n), np.float32)
    clock = 0.0
    for step in range(args.steps):
        f = ctl.fluid
        u, v = advect(f, u, v, ctl.dt)
        u, v, p, rest = project(u, v, p, h=f.h, lid=f.lid, sweeps=ctl.sweeps)
        clock += ctl.dt
        top, mean = speed(u, v)
        if step % 6 == 5:
            ctl.after_step(rest)
            print(f"{step:3d} t={clock:.3f} max={float(top):.3f} mean={float(mean):.4f} div={float(rest):.4f}")
        if step and step % args.dt_every == 0:
            ctl.courant(top)
        rake.sample(step, u)
    for row in rake.records:
        print("rake %3d %2d %.4f %.4f %.4f" % row)


if __name__ == "__main__":
    main()
