from collections import defaultdict

import torch

from scoring import score_take
from sources import programme, stream

VOICES = ("soprano", "alto", "tenor", "bass")


class Sheet:
    def __init__(self):
        self.rows = defaultdict(list)
        self.flagged = []

    def add(self, take, good, drift):
        key = VOICES[take.voice]
        self.rows[key].append((take.name, good, drift))
        if take.marked:
            self.flagged.append(take.name)

    def dump(self):
        for voice in VOICES:
            goods = torch.stack([g.float() for _, g, _ in self.rows[voice]])
            drifts = torch.stack([d.float() for _, _, d in self.rows[voice]])
            print(f"{voice:8s} in tune {goods.mean().item():.2f}  drift {drifts.mean().item():+.1f} cents")
        print("marked:", ", ".join(self.flagged))


def main():
    sheet = Sheet()
    for take, item in stream(programme()):
        good, drift = score_take(item)
        sheet.add(take, good, drift)
    sheet.dump()


if __name__ == "__main__":
    main()
