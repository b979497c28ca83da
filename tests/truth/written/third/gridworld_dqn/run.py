from agent import Agent
from env import Corridor


def main(steps=60):
    env = Corridor(4)
    agent = Agent(env)
    s, ret, score, losses = env.reset(), [], 0.0, []
    for t in range(steps):
        a = agent.act(s, eps=max(0.1, 1 - t / 40))
        s2, r, done = env.step(a)
        agent.mem.push(s, a, r, s2, done)
        score += r
        s = s2
        if t % 4 == 3 and (l := agent.improve()) is not None:
            losses.append(l)
        if t % 16 == 15:
            agent.sync()
        if done:
            ret.append(score)
            s, score = env.reset(), 0.0
    print("episodes", len(ret), "mean return %.2f" % (sum(ret) / max(len(ret), 1)), "loss %.3f" % losses[-1])


if __name__ == "__main__":
    main()
