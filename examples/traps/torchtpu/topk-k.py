# trap: topk-k
# recompiles: 2
# fix: one k
"""The number of experts of a token is drawn anew."""

import torch

WIDTH = 16  # size: 8..32 by 8
TOKENS = 12  # size: 8..24 by 4


@torch.compile(dynamic=False)
def chosen(weights, x, k):
    scores = torch.tanh(x @ weights)
    return torch.topk(scores, k).values.mean()  # origin


def main():
    torch.manual_seed(0)
    weights = torch.randn(WIDTH, 10).to("tpu")
    for k in [2, 2, 3, 2, 5]:
        score = chosen(weights, torch.randn(TOKENS, WIDTH).to("tpu"), k)  # trigger
    print("score", score.cpu().item())


if __name__ == "__main__":
    main()
