import numpy as np

from agent import Agent
from memory import Memory


class Chain:
    def __init__(self, n=8):
        self.n = n
        self.pos = 0

    def _obs(self):
        v = np.zeros(self.n, np.float32)
        v[self.pos] = 1.0
        return v

    def reset(self):
        self.pos = 0
        return self._obs()

    def step(self, a):
        self.pos = max(0, min(self.n - 1, self.pos + (1 if a == 1 else -1)))
        return self._obs(), float(self.pos == self.n - 1)


def main(episodes=10, length=9):
    env = Chain()
    agent = Agent(env.n, 2)
    memory = Memory(512, env.n)
    for ep in range(episodes):
        obs, total = env.reset(), 0.0
        for _ in range(length):
            a = agent.choose(obs)
            nxt, r = env.step(a)
            memory.push(obs, a, r, nxt)
            obs = nxt
            total += r
        loss = agent.update(memory, 16, 0.95, 0.1 / (1 + ep))
        agent.explorer.finish_episode()
        print(f"episode {ep} return {total:.1f} loss {loss:.4f} stored {len(memory)}")


if __name__ == "__main__":
    main()
