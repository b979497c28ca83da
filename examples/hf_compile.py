"""A Hugging Face model under torch.compile that is compiled again for three reasons.

The model is a small GPT-2 with random weights; nothing is downloaded. The three reasons: the length of the text
grows, the last batch of an epoch is short, and the model is evaluated in another mode than it is trained in.

    pip install torch transformers
    stet run -- python examples/hf_compile.py [BACKEND]

BACKEND is aot_eager unless another one is named: it has the guards of inductor, and needs no C++ compiler.
"""

import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel

BATCH, EPOCHS = 8, 2
LENGTHS = (32, 48)  # the text of the second epoch is longer
SAMPLES = 20  # two batches of 8, and one of 4


def batches(length):
    tokens = torch.randint(0, 256, (SAMPLES, length), generator=torch.Generator().manual_seed(length))
    return tokens.split(BATCH)


def train_step(model, optimizer, tokens):
    optimizer.zero_grad()
    loss = model(tokens, labels=tokens).loss
    loss.backward()
    optimizer.step()
    return loss


def evaluate(model, tokens):
    model.eval()
    with torch.no_grad():
        loss = model(tokens, labels=tokens).loss
    model.train()
    return loss


def main():
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=256, n_positions=64, n_embd=32, n_layer=2, n_head=2, use_cache=False,
                        bos_token_id=0, eos_token_id=0)
    module = GPT2LMHeadModel(config).train()
    model = torch.compile(module, backend=sys.argv[1] if len(sys.argv) > 1 else "aot_eager")
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3)
    for epoch in range(EPOCHS):
        for tokens in batches(LENGTHS[epoch]):
            loss = train_step(model, optimizer, tokens)
        held_out = evaluate(model, batches(LENGTHS[epoch])[0])
        print(f"epoch {epoch}: loss {loss.item():.3f}, held out {held_out.item():.3f}")


if __name__ == "__main__":
    main()
