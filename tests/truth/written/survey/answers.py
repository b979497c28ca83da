"""Answers to a survey; some are missing."""
import numpy as np


class Answers:
    def __init__(self, people, questions, groups, seed=0):
        rng = np.random.default_rng(seed)
        self.group = rng.integers(0, groups, people)
        effect = rng.normal(0, 1, groups)
        hard = rng.normal(0, 1, questions)
        value = effect[self.group][:, None] - hard[None, :]
        self.yes = (rng.random((people, questions)) < 1 / (1 + np.exp(-value))).astype(np.float32)
        self.given = rng.random((people, questions)) < 0.9
        self.people, self.questions, self.groups = people, questions, groups

    def rows(self, chosen):
        person, question = np.nonzero(self.given[chosen])
        return {
            "group": self.group[chosen][person],
            "question": question,
            "yes": self.yes[chosen][person, question],
        }

    def waves(self, size, seed):
        rng = np.random.default_rng(seed)
        order = rng.permutation(self.people)
        for at in range(0, self.people - size + 1, size):
            yield self.rows(order[at:at + size])
