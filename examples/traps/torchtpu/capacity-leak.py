# trap: capacity-leak
# recompiles: 2
# fix: capacity, config
"""The experts' capacity is computed from the number of real tokens in each batch."""

import torch

TOKENS = 64  # size: 48 64 96
WIDTH = 8  # size: 8 16
EXPERTS = 4  # size: 4 8


@torch.compile(dynamic=False)
def mixed(router, experts, tokens, capacity):
    gates = torch.softmax(tokens @ router, -1)
    chosen = torch.nn.functional.one_hot(gates.argmax(-1), EXPERTS)
    place = (torch.cumsum(chosen, 0) * chosen - 1).amax(-1)
    kept = place < capacity  # origin
    slots = torch.arange(capacity, device="tpu")  # origin
    spot = (place[:, None] == slots).float() * kept[:, None]
    dispatch = chosen[:, :, None] * spot[:, None, :]
    inside = torch.einsum("tec,td->ecd", dispatch, tokens)
    done = torch.relu(torch.einsum("ecd,edf->ecf", inside, experts))
    return torch.einsum("tec,ecf->tf", dispatch, done) * gates.amax(-1, keepdim=True)


def main():
    torch.manual_seed(0)
    router = torch.randn(WIDTH, EXPERTS).to("tpu")
    experts = torch.randn(EXPERTS, WIDTH, WIDTH).to("tpu")
    for real in [TOKENS, TOKENS, TOKENS - 10, TOKENS, TOKENS - 21]:
        tokens = torch.randn(TOKENS, WIDTH)
        tokens[real:] = 0.0
        capacity = int(1.25 * real / EXPERTS)
        out = mixed(router, experts, tokens.to("tpu"), capacity)  # trigger
    print("mean", out.cpu().mean().item())


if __name__ == "__main__":
    main()
