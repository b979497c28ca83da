import numpy as np

from agent import Agent
from memory import Memory


class Corridor:
    size = 9

    def reset(self):
        self.pos, self.t = 1, 0
        return self.view()

    def view(self):
        v = np.zeros(self.size, np.float32)
        v[self.pos] = 1.0
        return v

    def step(self, a):
        self.pos = int(np.clip(self.pos + (a - 1), 0, self.size - 1))
        self.t += 1
        won = self.pos == self.size - 1
        return self.view(), np.float32(won), np.float32(won or self.t >= 25)


HP = dict(total=180, learn_every=5, floor=10, room=200, take=32, sync_every=15, eps0=1.0, eps1=0.1)


def main(hp=HP):
    rng = np.random.default_rng(0)
    env, agent = Corridor(), Agent(Corridor.size)
    mem = Memory(hp["room"], hp["take"])
    obs, wins, updates = env.reset(), 0, 0
    for t in range(1, hp["total"] + 1):
        eps = hp["eps0"] + (hp["eps1"] - hp["eps0"]) * t / hp["total"]
        if rng.random() < eps:
            act = int(rng.integers(3))
        else:
            act = int(np.asarray(agent.act_values(agent.state.q, obs[None])).argmax())
        nxt, rew, end = env.step(act)
        mem.push(obs, np.int32(act), rew, nxt, end)
        wins += int(rew)
        obs = env.reset() if end else nxt
        if t % hp["learn_every"] == 0 and mem.ready(hp["floor"]):
            loss = agent.update(mem.draw(), np.float32(0.1 * (1 - t / hp["total"])))
            updates += 1
            if updates % hp["sync_every"] == 0:
                agent.sync()
                print(f"t={t} loss={loss:.4f} eps={eps:.2f} wins={wins}")
    print("updates", updates, "wins", wins)


if __name__ == "__main__":
    main()
