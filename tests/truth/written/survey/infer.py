"""Variational inference of group effects (numpyro)."""
import argparse

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal
from numpyro.optim import Adam

from answers import Answers


def model(groups, questions, group, question, yes, scale=1.0):
    spread = numpyro.sample("spread", dist.HalfNormal(1.0))
    with numpyro.plate("groups", groups):
        effect = numpyro.sample("effect", dist.Normal(0.0, spread))
    with numpyro.plate("questions", questions):
        hard = numpyro.sample("hard", dist.Normal(0.0, 1.0))
    value = effect[group] - hard[question]
    with numpyro.handlers.scale(scale=scale):
        numpyro.sample("yes", dist.Bernoulli(logits=value).to_event(1), obs=yes)


class Fit:
    def __init__(self, answers, rate):
        self.answers = answers
        self.guide = AutoNormal(model)
        self.svi = SVI(model, self.guide, Adam(rate), Trace_ELBO())
        self.step = jax.jit(self._step)
        self.state = None

    def _step(self, state, wave):
        return self.svi.update(state, self.answers.groups, self.answers.questions, **wave)

    def begin(self, key, wave):
        self.state = self.svi.init(key, self.answers.groups, self.answers.questions, **wave)

    def run(self, waves):
        losses = []
        for wave in waves:
            self.state, loss = self.step(self.state, wave)
            losses.append(loss)
        return float(jnp.mean(jnp.stack(losses)))

    def effects(self):
        return self.guide.median(self.svi.get_params(self.state))["effect"]


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=60)
    parser.add_argument("--wave", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--rate", type=float, default=0.05)
    return parser.parse_args()


def main():
    args = options()
    answers = Answers(args.people, 6, 3)
    fit = Fit(answers, args.rate)
    fit.begin(jax.random.key(0), next(answers.waves(args.wave, 0)))
    for number in range(args.rounds):
        print(number, f"{fit.run(answers.waves(args.wave, number)):.2f}")
    print([f"{float(e):.2f}" for e in fit.effects()])


if __name__ == "__main__":
    main()
