import torch


class Corpus:
    """One long row of tokens on the device, read in windows."""

    def __init__(self, length, vocabulary, context, seed=0):
        g = torch.Generator().manual_seed(seed)
        steps = torch.randint(1, 4, (length,), generator=g)
        self.tokens = (steps.cumsum(0) % vocabulary)[None].repeat(4, 1)
        self.context = context

    def to(self, device):
        self.tokens = self.tokens.to(device)
        self.windows = [torch.arange(n * self.context, (n + 1) * self.context + 1).to(device) for n in range(len(self))]
        return self

    def __len__(self):
        return (self.tokens.shape[1] - 1) // self.context

    def __iter__(self):
        for number in range(len(self)):
            window = self.tokens.index_select(1, self.windows[number])
            yield window[:, :-1], window[:, 1:]
