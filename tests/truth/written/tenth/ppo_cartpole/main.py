import dataclasses

import jax
import numpy as np

from config import Args
from envs import VecCartPole
from learner import Storage, act, compute_gae, init_agent, make_tx, summarise, update_ppo


class EntropyAnneal:
    def __init__(self, begin=0.4):
        self.begin = begin

    def on_update_end(self, runner):
        frac = runner.update / runner.args.total_updates
        if frac <= self.begin:
            return
        mix = (frac - self.begin) / (1 - self.begin)
        base = Args()
        target = (1 - mix) * base.ent_coef + mix * base.ent_floor
        runner.args = dataclasses.replace(runner.args, ent_coef=round(target, 5))


class ConsoleLog:
    def on_update_end(self, runner):
        s = runner.stats
        if runner.update % 3 == 0 and s:
            print(f"update {runner.update:3d} ret {float(s['mean']):6.2f} ent {float(runner.entropy):.3f}")


class Runner:
    def __init__(self, args, hooks):
        self.args, self.hooks = args, hooks
        self.update, self.stats, self.entropy = 0, None, 0.0
        self.env = VecCartPole(args.num_envs, args.seed)
        self.key, k = jax.random.split(jax.random.PRNGKey(args.seed))
        self.params = init_agent(k, self.env.obs_dim, self.env.n_actions, args.hidden)
        self.opt_state = make_tx(args).init(self.params)
        self.obs = self.env.state.copy()

    def rollout(self):
        rows, finished, ended = [], [], []
        for _ in range(self.args.num_steps):
            self.key, k = jax.random.split(self.key)
            action, logp, value = act(self.params, self.obs, k)
            nxt, reward, done, final = self.env.step(np.asarray(action))
            rows.append((self.obs, action, logp, value, reward, done.astype(np.float32)))
            finished.append(final)
            ended.append(done)
            self.obs = nxt
        store = Storage(*(np.stack(c) for c in zip(*map(lambda r: [np.asarray(e) for e in r], rows))))
        return store, np.stack(finished), np.stack(ended)

    def run(self):
        for self.update in range(1, self.args.total_updates + 1):
            store, final, ended = self.rollout()
            self.key, k = jax.random.split(self.key)
            _, _, last_value = act(self.params, self.obs, k)
            adv, ret = compute_gae(store, last_value, self.args.gamma, self.args.gae_lambda)
            self.params, self.opt_state, loss, self.entropy = update_ppo(
                self.params, self.opt_state, store, adv, ret, args=self.args
            )
            if ended.any():
                episodes = final[ended]
                self.stats = summarise(episodes)
            for hook in self.hooks:
                hook.on_update_end(self)
        return float(loss)


if __name__ == "__main__":
    print("final loss", round(Runner(Args(), [EntropyAnneal(), ConsoleLog()]).run(), 3))
