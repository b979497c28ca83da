import torch


class Source:
    """Batches as dictionaries; relabelled ones say how sure the label is."""

    def __init__(self, size, features, classes, relabel_from, seed=0):
        self.g = torch.Generator().manual_seed(seed)
        self.size, self.features, self.classes = size, features, classes
        self.relabel_from = relabel_from
        self.truth = torch.randn(features, classes, generator=self.g)

    def make(self):
        x = torch.randn(self.size, self.features, generator=self.g)
        return {"x": x, "label": (x @ self.truth).argmax(1)}

    def relabelled(self):
        batch = self.make()
        batch["sure"] = torch.rand(self.size, generator=self.g)
        return batch

    def take(self, count):
        for number in range(count):
            odd = number >= self.relabel_from and number % 2
            yield self.relabelled() if odd else self.make()
