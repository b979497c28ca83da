import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

from plan import TEXT, Plan
from stufen import Normierung, Pruefung, Zeitschnitt

plan = Plan(TEXT)
SEITE, STAPEL = 12, 4
AUSFAELLE = {6, 7, 13}


def archiv(laeufe, seed=21):
    rng = np.random.default_rng(seed)
    for lauf in range(laeufe):
        regen = rng.gamma(2.0, 1.0, size=(STAPEL, 1 + plan.max_vorlauf, SEITE, SEITE))
        wind = rng.normal(size=(STAPEL, SEITE, SEITE)) * 5
        radar = rng.gamma(1.5, 2.0, size=(STAPEL, SEITE, SEITE))
        radar[rng.random(radar.shape) < (0.9 if lauf in AUSFAELLE else 0.02)] = np.nan
        yield {"lauf": lauf, "felder": {"regen": regen, "wind": wind, "radar": radar}}


def schritt(regen, zusatz):
    kanaele = {"regen": regen, **zusatz}
    h = sum(hk.Conv2D(6, 3, name="ein_" + k)(v[..., None]) for k, v in sorted(kanaele.items()))
    return regen + hk.Conv2D(1, 3, name="aus")(jax.nn.gelu(h))[..., 0]


netz = hk.without_apply_rng(hk.transform(schritt))
tx = optax.adamw(plan.rate)


def verlust(params, start, ziel, gewicht, zusatz):
    feld, summe = start, 0.0
    for k in range(ziel.shape[1]):
        feld = netz.apply(params, feld, zusatz)
        summe += gewicht[k] * jnp.mean((feld - ziel[:, k]) ** 2)
    return summe


@jax.jit
def lerne(params, zustand, start, ziel, gewicht, zusatz):
    wert, grad = jax.value_and_grad(verlust)(params, start, ziel, gewicht, zusatz)
    delta, zustand = tx.update(grad, zustand, params)
    return optax.apply_updates(params, delta), zustand, wert


@jax.jit
def energie(feld):
    return jnp.sqrt(jnp.mean(feld ** 2))


def haupt():
    pruefung = Pruefung(grenze=0.5)
    kette = (
        pruefung
        | Normierung({"regen": 2.0, "wind": 0.0, "radar": 3.0}, {"regen": 1.4, "wind": 5.0, "radar": 2.4})
        | Zeitschnitt(plan)
    )
    leer = jnp.zeros((STAPEL, SEITE, SEITE))
    params = netz.init(jax.random.PRNGKey(0), leer, {"radar": leer, "wind": leer})
    zustand = tx.init(params)
    for satz in kette(archiv(plan.laeufe)):
        params, zustand, wert = lerne(params, zustand, satz["start"], satz["ziel"], satz["gewicht"], satz["zusatz"])
        if satz["lauf"] % 5 == 4:
            print(f"lauf {satz['lauf']:2d} verlust {float(wert):.4f} energie {float(energie(satz['start'])):.3f}")
    print("verworfen", pruefung.verworfen)


if __name__ == "__main__":
    haupt()
