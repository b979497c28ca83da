import torch
from torch import nn
from torch.distributions import Normal

from worlds import TASKS


class EMAMixin:
    """Keeps smoothed scalars under self.ema[...]"""

    @property
    def ema(self):
        if not hasattr(self, "_ema"):
            self._ema = {}
        return self._ema

    def track(self, **kw):
        for k, v in kw.items():
            v = float(v)
            self.ema[k] = v if k not in self.ema else 0.9 * self.ema[k] + 0.1 * v


class BaseAgent(EMAMixin):
    def __init__(self, obs_dim, act_dim):
        self.pi = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh(), nn.Linear(32, act_dim))
        self.vf = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.full((act_dim,), -0.5))
        self.optim = torch.optim.Adam(self.parameters(), lr=4e-3)

    def parameters(self):
        return [*self.pi.parameters(), *self.vf.parameters(), self.log_std]

    def __call__(self, obs, env):
        with torch.no_grad():
            return self.choose(obs, env.name)


class KLAgent(BaseAgent):
    """Policy gradient with an adaptive KL penalty."""

    def __init__(self, *a, gamma=0.95):
        super().__init__(*a)
        self.gamma = gamma
        self.choose = torch.compile(self.choose, backend="eager", dynamic=False)
        self.objective = torch.compile(self.objective, backend="eager", dynamic=False)

    def choose(self, obs, task):
        mean = self.pi(obs) * TASKS[task]
        return mean + self.log_std.exp() * torch.randn_like(mean)

    def objective(self, obs, act, ret, old):
        logp = Normal(self.pi(obs), self.log_std.exp()).log_prob(act).sum(-1)
        base = self.vf(obs)[:, 0]
        kl = (old - logp).square().mean()
        kl_now = kl.item()
        beta = 2.0 if kl_now > 0.05 else 0.5
        adv = (ret - base).detach()
        pg = -(torch.exp(logp - old) * adv).mean()
        return pg + 0.5 * (ret - base).square().mean() + beta * kl

    def returns(self, rew):
        out, run = [], 0.0
        for r in reversed(rew):
            run = r + self.gamma * run
            out.append(run)
        return torch.tensor(out[::-1])

    def learn(self, roll, epochs=3):
        obs, act = torch.stack(roll.obs), torch.stack(roll.act)
        ret = self.returns(roll.rew)
        with torch.no_grad():
            old = Normal(self.pi(obs), self.log_std.exp()).log_prob(act).sum(-1)
        for _ in range(epochs):
            loss = self.objective(obs, act, ret, old)
            self.optim.zero_grad()
            loss.backward()
            self.optim.step()
        self.track(loss=loss.detach(), ret=ret[0])
