"""Replies word by word, with a cache of keys and values."""
import argparse
from dataclasses import dataclass, field

import torch

from decoder import Decoder


@dataclass
class Session:
    banned: list = field(default_factory=list)
    said: list = field(default_factory=list)

    def hear(self, words):
        self.said = list(words)

    def after(self, word, often):
        self.said.append(word)
        if self.said.count(word) > often and word not in self.banned:
            self.banned.append(word)


class Speaker:
    def __init__(self, model, backend):
        self.model = model
        self.forward = torch.compile(model, backend=backend)

    @torch.no_grad()
    def reply(self, session, count, often):
        heard = len(session.said)
        past = [(torch.zeros(1, heard + count, 16), torch.zeros(1, heard + count, 16)) for _ in range(2)]
        for at in range(heard + count - 1):
            banned = torch.zeros(20, dtype=torch.bool)
            banned[session.banned] = True
            tokens = torch.tensor([[session.said[at]]])
            logits, past = self.forward(tokens, past, torch.tensor([at]), banned)
            if at >= heard - 1:
                session.after(int(logits.argmax()), often)
        return session.said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=14)
    parser.add_argument("--often", type=int, default=4)
    parser.add_argument("--backend", default="aot_eager")
    args = parser.parse_args()
    torch.manual_seed(0)
    speaker = Speaker(Decoder(20, 16, 2), args.backend)
    session = Session()
    session.hear([3, 1, 4, 1, 5])
    print(speaker.reply(session, args.count, args.often))


if __name__ == "__main__":
    main()
