# trap: static-argument
# recompiles: 3
# fix: `sharpness`, tensor
"""A compiled function takes a Python number: every request brings its own, and each is a graph."""

import torch
import torch.nn as nn
import torch_xla

VOCAB = 48  # size: 16..96 by 16
WIDTH = 16  # size: 8..32 by 8


def main():
    torch.manual_seed(0)
    embed = nn.Embedding(VOCAB, WIDTH).to("xla")
    torch_xla.sync()

    @torch_xla.compile
    def sample(tokens, noise, sharpness=2.0):
        hidden = torch.tanh(embed(tokens).mean(1))
        chances = torch.softmax(hidden @ embed.weight.T, -1)
        return (chances**sharpness * noise).argmax(-1)  # origin

    with torch.no_grad():
        for sharpness in [1.5, 1.5, 2.5, 3.5, 1.5, 2.25, 2.5]:
            tokens = torch.randint(0, VOCAB, (4, 12)).to("xla")
            noise = torch.rand(4, VOCAB).to("xla")
            chosen = sample(tokens, noise, sharpness=sharpness)  # trigger
    print("chosen", chosen.cpu().tolist())


if __name__ == "__main__":
    main()
