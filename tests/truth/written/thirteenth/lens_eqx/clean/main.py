import equinox as eqx
import numpy as np

from design import Lens, Penalty, refine, rms, tx


def fan(n, height, field):
    y = np.linspace(-height, height, n)
    u = np.random.default_rng(0).uniform(-field, field, n)
    return np.stack([y, u], 1).astype(np.float32)


def main():
    lens = Lens((0.5, -0.3, 0.2), (0.0, 0.12, 0.1), (1.52, 1.68, 1.49))
    opt_state = tx.init(eqx.filter(lens, eqx.is_array))
    rays, check = fan(60, 0.7, 0.1), fan(31, 0.4, 0.02)
    keep = np.ones(len(rays), bool)
    terms = Penalty(mu=1.0, rim=0.12)
    for it in range(15):
        lens, opt_state, violation, live = refine(lens, opt_state, rays, keep, terms.weights())
        if it % 3 == 2:
            keep = np.asarray(live)
        if it % 4 == 3:
            terms = terms.tighten(float(violation))
        print(f"{it:2d} rms {float(rms(lens, check)):.4f} mu {terms.mu:.1f} rays {keep.sum()}")


if __name__ == "__main__":
    main()
