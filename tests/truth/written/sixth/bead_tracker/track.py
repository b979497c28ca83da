"""Synthetic bead movies -> sub-pixel localisation."""
import torch

from engine import BeadNet, Engine, Recipe


class BeadSource:
    def __init__(self, side=8, batch=16, seed=21):
        self.gen = torch.Generator().manual_seed(seed)
        self.batch = batch
        self.axis = (torch.arange(side) + 0.5) / side
        self.exposure = 1.0

    def draw(self):
        c = 0.2 + 0.6 * torch.rand(self.batch, 2, generator=self.gen)
        gy = torch.exp(-((self.axis - c[:, :1]) / 0.12) ** 2)
        gx = torch.exp(-((self.axis - c[:, 1:]) / 0.12) ** 2)
        img = self.exposure * gy[:, :, None] * gx[:, None, :]
        # lamp ageing, applied on the host before the network sees anything
        self.exposure *= 0.995
        return img + 0.05 * torch.randn(img.shape, generator=self.gen), c


def main():
    torch.manual_seed(0)
    recipe = Recipe(unfreeze_at=2)
    engine = Engine(BeadNet(), recipe)
    for epoch, loss in enumerate(engine.fit(BeadSource())):
        print(f"epoch {epoch}: mse {loss.item():.5f}")


if __name__ == "__main__":
    main()
