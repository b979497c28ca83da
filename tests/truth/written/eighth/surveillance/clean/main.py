import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro import handlers
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal
from numpyro.optim import Adam

from weekly import issue_bulletins, parse


def growth_model(exposure, counts, reported):
    n_weeks = counts.shape[1]
    drift = numpyro.sample("drift", dist.Normal(0.0, 0.5))
    scale = numpyro.sample("scale", dist.HalfNormal(0.3))
    with numpyro.plate("weeks", n_weeks):
        wobble = numpyro.sample("wobble", dist.Normal(0.0, scale))
    log_rate = jnp.log(exposure)[:, None] + drift * jnp.linspace(-1, 1, n_weeks) + wobble
    numpyro.sample("counts", dist.Poisson(jnp.exp(log_rate)).mask(reported[:, None]).to_event(2), obs=counts)


def tempered(exposure, counts, reported, strength):
    with handlers.scale(scale=strength):
        growth_model(exposure, counts, reported)


class Estimator:
    def __init__(self, rounds):
        self.rounds = rounds
        self.state = None
        guide = AutoNormal(tempered, init_scale=0.05)
        self.svi = SVI(tempered, guide, Adam(0.03), Trace_ELBO())
        self._advance = jax.jit(self.svi.update)

    def assimilate(self, *data):
        if self.state is None:
            self.state = self.svi.init(jax.random.PRNGKey(0), *data)
        for _ in range(self.rounds):
            self.state, loss = self._advance(self.state, *data)
        return float(loss)


class Desk:
    """Runs once per bulletin."""

    ladder = {0: 0.25, 3: 0.5, 5: 1.0}

    def __init__(self):
        self.estimator = Estimator(rounds=6)
        self.strength = 0.25
        self.log = []

    def receive(self, week, text):
        names, exposure, counts, reported = parse(text)
        self.strength = self.ladder.get(week, self.strength)
        loss = self.estimator.assimilate(exposure, counts, reported, self.strength)
        drift = float(self.estimator.svi.get_params(self.estimator.state)["drift_auto_loc"])
        self.log.append(drift)
        print(f"week {week:2d} regions {len(names)} loss {loss:9.2f} drift {drift:+.3f}")


if __name__ == "__main__":
    desk = Desk()
    for week, text in issue_bulletins():
        desk.receive(week, text)
    print("mean drift %.3f" % np.mean(desk.log))
