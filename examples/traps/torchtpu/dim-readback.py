# trap: dim-readback
# recompiles: 2
# fix: bound, mask
"""The number of detections is read back from the device and becomes a size of the next program."""

import torch

BOXES = 40  # size: 32..64 by 8
WIDTH = 6  # size: 4..12 by 2


@torch.compile(dynamic=False)
def summarised(scores, boxes, count):
    best = torch.argsort(scores, descending=True)[:count]  # origin
    return (boxes[best] * scores[best, None]).mean(0)


def main():
    torch.manual_seed(0)
    for found in [9, 9, 12, 9, 6]:
        scores = torch.rand(BOXES) * 0.4
        scores[:found] += 0.55
        scores, boxes = scores.to("tpu"), torch.randn(BOXES, WIDTH).to("tpu")
        count = int((scores > 0.5).sum())  # origin
        mean = summarised(scores, boxes, count)  # trigger
    print("mean", mean.cpu())


if __name__ == "__main__":
    main()
