import numpy as np

from guidance import eps_net
from jobs import jobs
from samplers import REGISTRY, SIDE


def weights(seed=0, width=20):
    r = np.random.default_rng(seed)
    m = lambda *s: (0.3 * r.normal(size=s)).astype(np.float32)
    return {"label": m(4, width), "time": m(width), "in": m(SIDE, width), "out": m(width, SIDE)}


def main():
    w = weights()
    rng = np.random.default_rng(1)
    for i, job in enumerate(jobs()):
        out = np.asarray(REGISTRY[job["sampler"]](eps_net, w, job, rng))
        print(f"job {i} label {job['label']} mean {out.mean():+.4f} spread {out.std():.4f}")


if __name__ == "__main__":
    main()
