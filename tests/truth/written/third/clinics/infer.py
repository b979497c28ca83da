"""Stochastic variational inference for a hierarchical dose-response model."""
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from numpyro.infer import SVI, Trace_ELBO

from model import guide, model
from records import cohort, minibatches, wards


@jax.jit
def clinic_odds(params, ids):
    """Posterior mean odds of the clinics in `ids` at dose zero, with a spread."""
    tau = jnp.exp(params["tau_loc"])
    m = params["mu_loc"] + tau * params["a_loc"][ids]
    s = jnp.hypot(jax.nn.softplus(params["mu_raw"]), tau * jax.nn.softplus(params["a_raw"][ids]))
    return jnp.exp(m), s


def ward_report(params, ward):
    present = jnp.unique(ward["clinic"])
    odds, spread = clinic_odds(params, present)
    return {int(c): (float(o), float(s)) for c, o, s in zip(np.asarray(present), np.asarray(odds), np.asarray(spread))}


def main(epochs=6, size=64):
    table = cohort()
    g = np.random.default_rng(0)
    svi = SVI(model, guide, numpyro.optim.Adam(3e-2), Trace_ELBO())
    n = len(table["y"])
    queue = wards(table)
    first = minibatches(table, size, g)[0]
    state = svi.init(jax.random.PRNGKey(0), **first, n_total=n)
    update = jax.jit(svi.update, static_argnames="n_total")
    elbo, report = [], ward_report(svi.get_params(state), queue[-1])
    for epoch in range(epochs):
        for batch in minibatches(table, size, g):
            state, loss = update(state, **batch, n_total=n)
            elbo.append(loss)
        report |= ward_report(svi.get_params(state), queue[epoch])
    print("elbo %.1f -> %.1f, %d clinics reported" % (elbo[0], elbo[-1], len(report)))


if __name__ == "__main__":
    main()
