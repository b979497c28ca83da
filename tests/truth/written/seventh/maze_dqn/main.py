import jax
import numpy as np

from agent import Agent
from replay import Replay

SIZE = 4
MOVES = np.array([[0, 1], [0, -1], [1, 0], [-1, 0]])


def observe(pos):
    o = np.zeros(SIZE * SIZE, np.float32)
    o[pos[0] * SIZE + pos[1]] = 1.0
    return o


def episode(agent, replay, key, limit=20):
    pos, total = np.array([0, 0]), 0.0
    for t in range(limit):
        key, sub = jax.random.split(key)
        a = int(agent.act(agent.params, sub, observe(pos)))
        nxt = np.clip(pos + MOVES[a], 0, SIZE - 1)
        done = bool((nxt == SIZE - 1).all())
        reward = 1.0 if done else -0.02
        replay.add(observe(pos), a, reward, observe(nxt), done)
        pos, total = nxt, total + reward
        if done:
            break
    return total


def main(episodes=14):
    rng = np.random.default_rng(0)
    agent, replay = Agent(SIZE * SIZE), Replay(400, rng)
    root = jax.random.PRNGKey(1)
    for e in range(episodes):
        if e and e % 3 == 0:
            agent.epsilon = max(0.1, agent.epsilon * 0.7)
        ret = episode(agent, replay, jax.random.fold_in(root, e))
        for _ in range(6):
            idx, batch = replay.sample(16)
            agent.params, agent.opt_state, td = agent.learn(agent.params, agent.target, agent.opt_state, batch)
            replay.refresh(idx, np.asarray(td))
        if e % 2:
            agent.sync()
        print(f"episode {e:2d} return {ret:+.2f} eps {agent.epsilon:.3f} replay {len(replay)}")


if __name__ == "__main__":
    main()
