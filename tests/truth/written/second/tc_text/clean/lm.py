import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torch.nn.utils.rnn import pad_sequence


class Lines(Dataset):
    def __init__(self, n):
        g = torch.Generator().manual_seed(0)
        self.rows = [torch.randint(1, 30, (int(torch.randint(4, 20, (1,), generator=g)),), generator=g) for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    return pad_sequence([*rows, torch.zeros(20, dtype=torch.long)], batch_first=True)[:-1]


emb = nn.Embedding(30, 16)
out = nn.Linear(16, 30)


@torch.compile(backend="eager", dynamic=False)
def objective(tokens, smooth=0.0):
    logits = out(emb(tokens[:, :-1]))
    return nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), label_smoothing=smooth)


def smoothing_at(i):
    return 0.1


def main():
    opt = torch.optim.Adam([*emb.parameters(), *out.parameters()], lr=1e-2)
    for i, tokens in enumerate(DataLoader(Lines(32), 4, collate_fn=collate)):
        opt.zero_grad(set_to_none=True)
        loss = objective(tokens, smooth=smoothing_at(i))
        loss.backward()
        opt.step()


main()
