# Lastprognose Stadtnetz, 15-min-Raster -> Stundenmittel. Aufruf: python lauf.py
from itertools import islice

import numpy as np
import torch

from modell import Lastnetz, pinball

FENSTER, HORIZONT, STATIONEN = 24, 6, 8
SCHRITTE = 36
verlust = torch.compile(pinball, backend="eager")


def zeitreihe(tage=30, saat=3):
    r = np.random.default_rng(saat)
    t = np.arange(tage * 24)
    tagesgang = 1 + 0.4 * np.sin(2 * np.pi * t / 24) + 0.1 * np.sin(2 * np.pi * t / 168)
    last = tagesgang[:, None] * r.uniform(0.5, 2.0, STATIONEN) + 0.05 * r.standard_normal((len(t), STATIONEN))
    return last.astype(np.float32)


def ist_feiertag(tag):
    return tag % 11 == 10


def bloecke(last):
    """Liefert endlos (x, ziel): alle Stationen eines Tages als Batch."""
    tag = 0
    while True:
        i = (tag * 24) % (len(last) - FENSTER - HORIZONT)
        vergangen = last[i:i + FENSTER]
        kommend = last[i + FENSTER:i + FENSTER + HORIZONT]
        x = np.stack([vergangen, np.roll(vergangen, 1, 0)], -1).transpose(1, 0, 2)
        ziel = kommend.T.copy()
        if ist_feiertag(tag):
            # Feiertage: Mittel der letzten drei gleichen Wochentage als Ersatzziel
            ersatz = np.stack([np.roll(ziel, k, 0) for k in range(3)], -1)
            ziel = ersatz.mean(-1, keepdims=True)
        yield torch.from_numpy(np.ascontiguousarray(x)), torch.from_numpy(ziel)
        tag += 1


def main():
    torch.manual_seed(0)
    netz = Lastnetz(2)
    schnell = torch.compile(netz, backend="eager")
    opt = torch.optim.Adam(netz.parameters(), 2e-3)
    alphas = torch.tensor([0.1, 0.5, 0.9])
    eps_gen = torch.Generator().manual_seed(1)

    verlauf = []
    for x, ziel in islice(bloecke(zeitreihe()), SCHRITTE):
        eps = torch.randn(x.shape, generator=eps_gen)
        v = verlust(schnell(x, eps), ziel, alphas)
        opt.zero_grad(set_to_none=True)
        v.backward()
        opt.step()
        verlauf.append(float(v.detach()))
    print(f"Pinball Anfang {np.mean(verlauf[:5]):.3f}  Ende {np.mean(verlauf[-5:]):.3f}")


if __name__ == "__main__":
    main()
