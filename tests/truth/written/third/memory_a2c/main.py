from agent import Agent
from rollout import Recall, play

if __name__ == "__main__":
    env = Recall(11)
    agent = Agent(env.obs_dim, env.n_actions)
    wins, losses = [], []
    for episode in range(24):
        traj = play(env, agent)
        losses.append(agent.learn(traj))
        wins.append(traj["rew"].sum())
    print("wins", sum(wins), "loss %.3f" % float(losses[-1]))
