# trap: mask-gather
# recompiles: 2
# fix: mask
"""Only the masked positions enter the loss: a boolean index gives every batch a size of its own."""

import torch

VOCAB = 32  # size: 24..64 by 8
WIDTH = 12  # size: 8..24 by 4
LENGTH = 40  # size: 32 40 48


@torch.compile(dynamic=False)
def masked_loss(embedding, hidden, wanted):
    logits = torch.log_softmax(hidden @ embedding.transpose(0, 1), -1)  # origin
    return -logits.gather(1, wanted[:, None]).mean()


def main():
    torch.manual_seed(0)
    embedding = torch.randn(VOCAB, WIDTH).to("tpu")
    for masked in [5, 5, 7, 5, 9, 7]:
        tokens = torch.randint(0, VOCAB, (LENGTH,)).to("tpu")
        mask = (torch.arange(LENGTH) < masked).to("tpu")
        hidden = torch.tanh(embedding[tokens])
        loss = masked_loss(embedding, hidden[mask], tokens[mask])  # origin # trigger
    print("loss", loss.cpu().item())


if __name__ == "__main__":
    main()
