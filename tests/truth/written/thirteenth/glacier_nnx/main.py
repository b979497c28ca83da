import optax
from flax import nnx

from archive import Archive
from icenet import IceNet, train_step
from probe import Probe, SensorGap


def main():
    years = list(range(2001, 2018))
    archive = Archive(years)
    net = IceNet(nnx.Rngs(5))
    opt = nnx.Optimizer(net, optax.adam(1e-2), wrt=nnx.Param)
    probe = Probe(archive, outages={2009})
    for year in years:
        tile, thick = archive.open(year)
        loss = train_step(net, opt, tile, thick)
        line = f"{year} loss {float(loss):.4f}"
        if year % 3 == 2:
            try:
                line += f" probe {probe(net, year):.4f}"
            except SensorGap as gap:
                line += f" gap {gap}"
        print(line)


main()
