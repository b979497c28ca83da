import numpy as np


class Memory:
    def __init__(self, capacity, obs_dim, alpha=0.6, seed=3):
        self.capacity = capacity
        self.alpha = alpha
        self.obs = np.zeros((capacity, obs_dim), np.float32)
        self.nxt = np.zeros((capacity, obs_dim), np.float32)
        self.act = np.zeros(capacity, np.int32)
        self.rew = np.zeros(capacity, np.float32)
        self._urgency = []
        self.head = 0
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return len(self._urgency)

    def push(self, o, a, r, o2, urgency=1.0):
        i = self.head
        self.obs[i], self.act[i], self.rew[i], self.nxt[i] = o, a, r, o2
        if len(self._urgency) < self.capacity:
            self._urgency.append(urgency)
        else:
            self._urgency[i] = urgency
        self.head = (i + 1) % self.capacity

    def weights(self):
        return np.asarray(self._urgency, np.float32) ** self.alpha

    def take(self, idx):
        idx = np.asarray(idx)
        return self.obs[idx], self.act[idx], self.rew[idx], self.nxt[idx]

    def reprioritise(self, idx, err):
        for i, e in zip(np.asarray(idx), np.asarray(err)):
            self._urgency[int(i)] = float(abs(e)) + 1e-3
