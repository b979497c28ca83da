import dataclasses

import numpy as np


@dataclasses.dataclass
class Snapshot:
    accounts: np.ndarray
    sender: np.ndarray
    receiver: np.ndarray
    amount: np.ndarray
    label: np.ndarray

    def as_inputs(self):
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}


def pad_to(arr, n, fill=0):
    extra = [(0, n - len(arr))] + [(0, 0)] * (arr.ndim - 1)
    return np.pad(arr, extra, constant_values=fill)


class TransferLog:
    ACCOUNTS = 48
    ROOM = 128

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.label = (self.rng.random(self.ACCOUNTS) < 0.2).astype(np.int32)
        self.feat = (self.rng.normal(size=(self.ACCOUNTS, 5)) + self.label[:, None]).astype(np.float32)

    def hour(self):
        n = int(self.rng.integers(70, 125))
        sender = self.rng.integers(0, self.ACCOUNTS, n)
        receiver = self.rng.integers(0, self.ACCOUNTS, n)
        amount = self.rng.lognormal(size=n).astype(np.float32)
        room = self.ROOM
        return Snapshot(
            self.feat,
            pad_to(sender.astype(np.int32), room, self.ACCOUNTS),
            pad_to(receiver.astype(np.int32), room, self.ACCOUNTS),
            pad_to(amount, room),
            self.label,
        )
