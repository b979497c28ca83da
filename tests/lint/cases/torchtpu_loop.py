"""TorchTPU: operations on the device outside compiled functions are programs of their own."""
import torch


@torch.compile
def descended(weights, x):
    return weights - 0.1 * (x.transpose(0, 1) @ torch.tanh(x @ weights))


def train(weights, batches):
    weights = weights.to("tpu")
    for x in batches:
        before = weights
        weights = descended(weights, x.to("tpu"))
        print((weights - before).abs().max().item())  # expect: host-sync
        print(weights.abs().mean().item())  # expect: host-sync
    print((weights - before).abs().max().item())  # clean: host-sync


def detect(images):
    for image in images:
        scores = torch.rand(40).to("tpu")
        mask = scores > 0.5
        count = int((scores * 2.0).sum())  # expect: host-sync
        kept = scores[mask]  # expect: mask-gather
        fixed = torch.where(mask, scores, 0.0)  # clean: mask-gather
        host = torch.rand(40)
        some = host[host > 0.5]  # clean: mask-gather
        yield count, kept, fixed, some
