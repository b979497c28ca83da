import jax
import jax.numpy as jnp

from envs import Pendulum, wrap_for_training
from es import Strategy, policy, unroll


class Evaluator:
    def __init__(self, env, n_envs=8, length=40):
        self.env, self.n_envs, self.length = env, n_envs, length
        self.walltime = 0.0

    def run_evaluation(self, params, key):
        eval_env = wrap_for_training(self.env, self.length)
        eval_step = jax.jit(eval_env.step)
        state = eval_env.reset(jax.random.split(key, self.n_envs))
        total = jnp.zeros(self.n_envs)
        for _ in range(self.length):
            state = eval_step(state, act(params, state.obs))
            total = total + state.reward
        return {"eval/episode_reward": float(total.mean()), "eval/steps": int(state.steps[0])}


@jax.jit
def act(params, obs):
    return policy(params, obs)


class Progress:
    def __init__(self, strategy, patience=2):
        self.strategy, self.patience = strategy, patience
        self.best, self.stale = -jnp.inf, 0
        self.history = []

    def __call__(self, gen, mean):
        mean = float(mean)
        self.history.append(mean)
        if mean > self.best + 4.0:
            self.best, self.stale = mean, 0
            return
        self.stale += 1
        if self.stale >= self.patience:
            self.strategy.noise = self.strategy.noise * 0.8
            self.stale = 0


def train(generations=16, eval_every=4):
    key = jax.random.PRNGKey(7)
    raw = Pendulum()
    strat = Strategy(wrap_for_training(raw), key)
    evaluator = Evaluator(raw)
    progress = Progress(strat)
    baseline = jax.jit(lambda p, k: unroll(wrap_for_training(raw), p, k, 4, 30))
    print("baseline", round(float(baseline(strat.unflatten(strat.flat), key)), 2))
    for gen in range(generations):
        key, k1, k2 = jax.random.split(key, 3)
        mean = strat.ask_tell(k1)
        progress(gen, mean)
        if (gen + 1) % eval_every == 0:
            metrics = evaluator.run_evaluation(strat.unflatten(strat.flat), k2)
            print(gen + 1, {k: round(v, 2) for k, v in metrics.items()}, "noise", round(strat.noise, 4))
    return progress.history


if __name__ == "__main__":
    train()
