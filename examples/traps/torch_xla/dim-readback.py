# trap: dim-readback
# recompiles: 3
# fix: bound, mask
"""The number of detections is read back from the device and becomes a size of the next graph."""

import torch
import torch.nn as nn
import torch_xla

BOXES = 40  # size: 32..64 by 8
WIDTH = 6  # size: 4..12 by 2


def main():
    torch.manual_seed(0)
    box = nn.Linear(WIDTH, 4).to("xla")
    torch_xla.sync()
    with torch.no_grad():
        for found in [9, 9, 12, 6, 12, 15]:
            image = torch.full((BOXES, WIDTH), -1.0)
            image[torch.randperm(BOXES)[:found]] = 1.0
            image = image.to("xla")
            scores = torch.sigmoid(image.sum(1))
            count = int((scores > 0.5).sum())  # origin
            order = torch.argsort(scores, descending=True)
            best = box(image)[order[:count]].mean(0)
            torch_xla.sync()  # trigger
    print("best", best.cpu().tolist())


if __name__ == "__main__":
    main()
