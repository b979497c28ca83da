from collections import namedtuple

import torch

Planche = namedtuple("Planche", "cote pixels couche")


def numeriser(cote, n, graine, cote_px=16):
    gen = torch.Generator().manual_seed(graine)
    trame = torch.rand(n, 3, cote_px, cote_px, generator=gen)
    return (trame * 255).round().to(torch.uint8)


class Armoire:
    """Lots de planches, rangees par tiroir ; certains tiroirs sont photographies couches."""

    def __init__(self, tiroirs, par_lot=4):
        self.tiroirs = tiroirs
        self.par_lot = par_lot

    def __iter__(self):
        for graine, (cote, couche) in enumerate(self.tiroirs.items()):
            yield Planche(cote, numeriser(cote, self.par_lot, graine), couche)


def redresser(pixels, couche):
    x = pixels.float().div(255.0).sub(0.5)
    if couche:
        x = x.flip(2).transpose(2, 3)
    return x
