import os
from types import SimpleNamespace

os.environ.setdefault("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")

import torch

from env import VecGridWalk
from policy import ActorCritic, ObsScaler

HP = SimpleNamespace(n_envs=8, horizon=5, updates=4, gamma=0.95, clip=0.2, lr=3e-3, ent=0.01, eval_every=2)


class Rollout:
    fields = ("obs", "act", "logp", "val", "rew")

    def __init__(self):
        self.data = {f: [] for f in self.fields}

    def add(self, **kw):
        for k, v in kw.items():
            self.data[k].append(v)

    def returns(self, bootstrap, gamma):
        out, run = [], bootstrap
        for r in reversed(self.data["rew"]):
            run = r + gamma * run
            out.append(run)
        return out[::-1]

    def minibatches(self, returns):
        for t in torch.randperm(len(returns)).tolist():
            yield {k: v[t] for k, v in self.data.items()} | {"ret": returns[t]}


class Agent:
    def __init__(self, obs_dim, n_actions):
        self.net = ActorCritic(obs_dim, n_actions)
        self.scaler = ObsScaler(obs_dim)
        self.policy = torch.compile(self.net)
        self.scale = torch.compile(self.scaler)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=HP.lr)

    @torch.no_grad()
    def act(self, raw):
        obs = self.scale(raw)
        logp, val = self.policy(obs)
        act = torch.multinomial(logp.exp(), 1).squeeze(1)
        return obs, act, logp.gather(1, act[:, None]).squeeze(1), val

    def learn(self, mb):
        logp_all, val = self.policy(mb["obs"])
        logp = logp_all.gather(1, mb["act"][:, None]).squeeze(1)
        adv = mb["ret"] - mb["val"]
        adv = (adv - adv.mean()) / (adv.std() + 1e-6)
        ratio = (logp - mb["logp"]).exp()
        surrogate = torch.minimum(ratio * adv, ratio.clamp(1 - HP.clip, 1 + HP.clip) * adv)
        entropy = -(logp_all.exp() * logp_all).sum(-1).mean()
        loss = -surrogate.mean() + 0.5 * (val - mb["ret"]).pow(2).mean() - HP.ent * entropy
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


def main():
    torch.manual_seed(1)
    env = VecGridWalk(HP.n_envs, seed=4)
    agent = Agent(6, 4)
    raw = env.reset()
    for update in range(1, HP.updates + 1):
        roll = Rollout()
        for _ in range(HP.horizon):
            obs, act, logp, val = agent.act(raw)
            raw, rew = env.step(act)
            roll.add(obs=obs, act=act, logp=logp, val=val, rew=rew)
        losses = [agent.learn(mb) for mb in roll.minibatches(roll.returns(val, HP.gamma))]
        score = torch.stack(roll.data["rew"]).mean().item()
        print(f"update {update} reward {score:+.3f} loss {sum(losses) / len(losses):.4f}")
        if update % HP.eval_every == 0:
            print("   obs mean", [round(v, 2) for v in agent.scaler.mean.tolist()])


if __name__ == "__main__":
    main()
