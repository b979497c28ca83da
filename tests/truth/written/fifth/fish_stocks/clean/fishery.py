# %% [markdown]
# Stock assessment of three fisheries, one year of catch data after the other
# (exported from a notebook)

# %%
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import optax
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal

rng = np.random.default_rng(17)
FLEETS = 3
YEARS = np.arange(2012, 2018)
SURVEYS = {"cod": 5, "hake": 5, "sole": 5}      # hauls a year


# %%
def simulate(hauls):
    effort = rng.uniform(0.5, 2.0, (len(YEARS), hauls)).astype(np.float32)
    fleet = rng.integers(0, FLEETS, (len(YEARS), hauls)).astype(np.int32)
    q = np.array([0.8, 1.0, 1.3])
    biomass = 10 * np.exp(-0.1 * np.arange(len(YEARS)))
    catch = q[fleet] * effort * biomass[:, None] * np.exp(0.2 * rng.normal(size=effort.shape))
    return effort, fleet, np.log(catch).astype(np.float32)


archive = {name: simulate(hauls) for name, hauls in SURVEYS.items()}


# %%
def stock_model(effort, fleet, year, log_catch, used):
    sd_q = numpyro.sample("sd_q", dist.HalfNormal(0.5))
    with numpyro.plate("fleets", FLEETS):
        log_q = numpyro.sample("log_q", dist.Normal(0.0, sd_q))
    log_b0 = numpyro.sample("log_b0", dist.Normal(2.0, 1.0))
    trend = numpyro.sample("trend", dist.Normal(0.0, 0.3))
    sigma = numpyro.sample("sigma", dist.HalfNormal(0.5))
    mu = log_q[fleet] + jnp.log(effort) + log_b0 + trend * year
    with numpyro.plate("hauls", effort.shape[0]), numpyro.handlers.mask(mask=used):
        numpyro.sample("obs", dist.Normal(mu, sigma), obs=log_catch)


# %%
def up_to(stock, n_years):
    """Everything that had been landed by the end of the n-th year."""
    effort, fleet, log_catch = (a.ravel() for a in archive[stock])
    year = np.repeat(np.arange(len(YEARS), dtype=np.float32), SURVEYS[stock])
    used = year < n_years
    return effort, fleet, year, log_catch, used


# %%
SVI_SHARED = SVI(stock_model, AutoNormal(stock_model), optax.adam(2e-2), Trace_ELBO())
UPDATE_SHARED = jax.jit(SVI_SHARED.update)


class Assessment:
    def __init__(self, stock):
        self.stock = stock
        self.svi = SVI_SHARED
        self.update = UPDATE_SHARED
        self.state = None

    def assimilate(self, n_years, iterations=25):
        data = up_to(self.stock, n_years)
        if self.state is None:
            self.state = self.svi.init(jax.random.PRNGKey(n_years), *data)
        for _ in range(iterations):
            self.state, loss = self.update(self.state, *data)
        return loss

    def trend(self):
        return self.svi.get_params(self.state)["trend_auto_loc"]


# %%
rows = []
for stock in SURVEYS:
    book = Assessment(stock)
    for n in (5, 6):
        loss = book.assimilate(n)
        rows.append((stock, YEARS[n - 1], loss, book.trend()))

# %%
for stock, year, loss, trend in rows:
    print(f"{stock:5s} {year}  -elbo {float(loss):8.2f}  trend {float(trend):+.3f}")
