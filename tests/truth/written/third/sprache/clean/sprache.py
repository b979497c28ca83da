# Spracherkennung im Kleinen: synthetische Äußerungen, CTC, ein bisschen flax.
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from flax import struct

ZEICHEN = 9          # 0 = leer (blank)
MERKMALE = 6
STAPEL = 6
MAX_RAHMEN = 36
MAX_TEXT = 5


class Erzeuger:
    """Erfindet Äußerungen: jedes Zeichen dauert ein paar Rahmen."""

    def __init__(self, saat):
        self.zufall = np.random.default_rng(saat)
        self.laute = np.random.default_rng(77).normal(size=(ZEICHEN, MERKMALE))

    def aeusserung(self, tempo):
        n = int(self.zufall.integers(3, MAX_TEXT + 1))
        text = self.zufall.integers(1, ZEICHEN, n)
        ton = np.repeat(self.laute[text], tempo, axis=0)
        return ton + 0.3 * self.zufall.normal(size=ton.shape), text

    def stapel(self):
        tempo = int(self.zufall.choice([3, 4, 5, 7]))
        return zusammenlegen([self.aeusserung(tempo) for _ in range(STAPEL)], MAX_RAHMEN)


def zusammenlegen(stuecke, rahmen=None):
    rahmen = rahmen or max(len(t) for t, _ in stuecke)
    x = np.zeros((len(stuecke), rahmen, MERKMALE), np.float32)
    luecke = np.ones((len(stuecke), rahmen), np.float32)
    y = np.zeros((len(stuecke), MAX_TEXT), np.int32)
    yl = np.ones((len(stuecke), MAX_TEXT), np.float32)
    for i, (ton, text) in enumerate(stuecke):
        x[i, :len(ton)], luecke[i, :len(ton)] = ton, 0
        y[i, :len(text)], yl[i, :len(text)] = text, 0
    return x, luecke, y, yl


class Hoerer(nn.Module):
    breite: int = 24

    @nn.compact
    def __call__(self, x):
        x = nn.gelu(nn.Conv(self.breite, (3,))(x))
        x = x + nn.gelu(nn.Conv(self.breite, (5,))(x))
        return nn.Dense(ZEICHEN)(x)


@struct.dataclass
class Zustand:
    gewichte: dict
    opt: optax.OptState
    schritt: jax.Array


netz = Hoerer()
regel = optax.chain(optax.clip_by_global_norm(2.0), optax.adam(8e-3))


@jax.jit
def anfang(saat):
    p = netz.init(saat, jnp.zeros((1, 8, MERKMALE)))
    return Zustand(p, regel.init(p), jnp.int32(0))


@jax.jit
def lernen(z, x, luecke, y, yl):
    def verlust(p):
        return optax.ctc_loss(netz.apply(p, x), luecke, y, yl).mean()
    v, g = jax.value_and_grad(verlust)(z.gewichte)
    u, opt = regel.update(g, z.opt)
    return Zustand(optax.apply_updates(z.gewichte, u), opt, z.schritt + 1), v


def entziffern(pfad):
    aus, vorher = [], 0
    for c in pfad:
        if c != vorher and c != 0:
            aus.append(int(c))
        vorher = c
    return aus


hoeren = jax.jit(lambda p, x: netz.apply(p, x).argmax(-1))


def pruefen(z, pruefsatz):
    x, luecke, y, yl = pruefsatz
    pfade = np.asarray(hoeren(z.gewichte, x))
    richtig = sum(entziffern(p[:int((1 - l).sum())]) == list(t[m == 0]) for p, l, t, m in zip(pfade, luecke, y, yl))
    return richtig / len(x)


def haupt(schritte=32):
    quelle, fremd = Erzeuger(1), Erzeuger(2)
    pruefsatz = zusammenlegen([fremd.aeusserung(5) for _ in range(16)], MAX_RAHMEN)
    z = anfang(jax.random.PRNGKey(3))
    verlauf, quote = [], []
    for i in range(schritte):
        z, v = lernen(z, *quelle.stapel())
        verlauf.append(v)
        if i % 8 == 0:
            quote.append(pruefen(z, pruefsatz))
    print(f"Verlust {float(verlauf[0]):.2f} -> {float(verlauf[-1]):.2f}; Trefferquote {quote[-1]:.2f}")


if __name__ == "__main__":
    haupt()
