import torch
from torch.utils.data import DataLoader, Dataset, random_split


class Strokes(Dataset):
    def __init__(self, count, seed):
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, 4, (count,), generator=g)
        grid = torch.linspace(-1, 1, 8)
        y, x = torch.meshgrid(grid, grid, indexing="ij")
        shapes = torch.stack([x, y, x * y, x * x - y * y])
        self.images = shapes[self.labels] + 0.2 * torch.randn(count, 8, 8, generator=g)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.images[index][None], self.labels[index]


def loaders(count, size, seed=0):
    full = Strokes(count, seed)
    held = count // 5
    train, test = random_split(full, [count - held, held], torch.Generator().manual_seed(seed))
    return DataLoader(train, size, shuffle=True, drop_last=True), DataLoader(test, held)
