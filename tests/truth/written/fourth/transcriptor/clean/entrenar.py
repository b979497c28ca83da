import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
import torch_xla.core.xla_model as xm

from bitacora import Bitacora
from datos import BANDAS, FONEMAS, Corpus, lotes


class Acustico(nn.Module):
    def __init__(self, h=24):
        super().__init__()
        self.conv = nn.Conv1d(BANDAS, h, 3, padding=1)
        self.mezcla = nn.Linear(h, h)
        self.salida = nn.Linear(h, FONEMAS)

    def forward(self, x):
        z = F.relu(self.conv(x.transpose(1, 2))).transpose(1, 2)
        return self.salida(z + torch.tanh(self.mezcla(z)))


class Entrenador:
    def __init__(self, disp):
        torch.manual_seed(1)
        self.disp = disp
        self.red = Acustico().to(disp)
        self.opt = torch.optim.SGD(self.red.parameters(), lr=0.1)
        self.bitacora = Bitacora()

    def un_paso(self, paso, x, y):
        x, y = x.to(self.disp), y.to(self.disp)
        self.opt.zero_grad()
        perdida = F.cross_entropy(self.red(x).flatten(0, 1), y.flatten(), ignore_index=0)
        perdida.backward()
        self.opt.step()
        xm.mark_step()
        self.bitacora.anotar(paso, perdida)
        return perdida


def principal():
    ent = Entrenador(torch_xla.device())
    xm.mark_step()
    for paso, (x, y) in enumerate(lotes(Corpus())):
        ultima = ent.un_paso(paso, x, y)
    print(ent.bitacora.resumen(), f"| fin {ultima.item():.3f}")


if __name__ == "__main__":
    principal()
