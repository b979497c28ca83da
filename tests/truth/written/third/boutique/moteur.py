# -*- coding: utf-8 -*-
import functools

import jax
import jax.numpy as jnp
import numpy as np

from catalogue import Magasin, N_ARTICLES


@jax.jit
def noter(articles, profils, paniers, ctx):
    """Score = affinité au profil + similarité au panier, articles déjà pris exclus."""
    requete = profils + ctx
    pris = paniers >= 0
    vec = jnp.where(pris[..., None], articles[jnp.maximum(paniers, 0)], 0.0)
    requete = requete + 0.5 * vec.sum(1) / jnp.maximum(pris.sum(1, keepdims=True), 1)
    s = requete @ articles.T
    lignes = jnp.arange(s.shape[0])[:, None]
    masque = jnp.zeros_like(s).at[lignes, jnp.where(pris, paniers, N_ARTICLES)].add(1.0, mode="drop")
    return jnp.where(masque > 0, -jnp.inf, s)


@functools.partial(jax.jit, static_argnums=1)
def classer(scores, combien):
    v, i = jax.lax.top_k(scores, combien)
    return jax.nn.softmax(v, -1), i


class Moteur:
    def __init__(self, magasin):
        self.magasin = magasin
        self.articles = jnp.asarray(magasin.articles)
        self.journal = []

    def servir(self, req):
        ctx = self.magasin.contexte(req)
        scores = noter(self.articles, req.utilisateurs, req.paniers, ctx)
        t = self.magasin.TAILLE_PAGE
        besoin = (req.page + 1) * t
        p, ids = classer(scores, besoin)
        debut = req.page * t
        page = np.asarray(ids)[:, debut:debut + t]
        self.journal.append((req.page, float(np.asarray(p)[:, 0].mean())))
        return page


def principal():
    boutique = Magasin()
    moteur = Moteur(boutique)
    vus = set()
    for req in boutique.flux(36):
        vus.update(moteur.servir(req).ravel().tolist())
    print(f"{len(moteur.journal)} requêtes, {len(vus)} articles montrés, "
          f"confiance {np.mean([c for _, c in moteur.journal]):.3f}")


if __name__ == "__main__":
    principal()
