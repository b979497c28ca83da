import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

LONGEST = 20


class Sentences(Dataset):
    def __init__(self, count, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.items = []
        for _ in range(count):
            size = int(torch.randint(5, 20, (1,), generator=g))
            words = torch.randint(1, 30, (size,), generator=g)
            self.items.append((words, (words + words.roll(1)) % 3))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


def collate(items):
    words, tags = zip(*items)
    words = torch.nn.utils.rnn.pad_sequence(words, batch_first=True)
    tags = torch.nn.utils.rnn.pad_sequence(tags, batch_first=True, padding_value=-100)
    spare = LONGEST - words.shape[1]
    return F.pad(words, (0, spare)), F.pad(tags, (0, spare), value=-100)


def loader(count, size, seed=0):
    return DataLoader(Sentences(count, seed), size, collate_fn=collate, drop_last=True)
