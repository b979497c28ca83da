import numpy as np

from graphs import Packer, synth
from model import EnergyFit, norm


def main():
    rng = np.random.default_rng(10)
    mols = [synth(rng) for _ in range(36)]
    fit = EnergyFit()
    for i, packed in enumerate(Packer().batches(mols)):
        loss = fit(packed)
        print(f"batch {i} loss {loss:.4f} norm {float(norm(fit.params)):.3f}")


if __name__ == "__main__":
    main()
