import torch

MIN_FLOOR = 0.01


def noise_floor(level):
    floor = level.mean().item()
    return max(floor, MIN_FLOOR)


@torch.compile(backend="tpu")
def detect(trace, taper):
    """Short-term over long-term average, relative to the trace's noise floor."""
    x = (trace - trace.mean()) * taper
    level = x.abs()
    short = level.reshape(-1, 4).mean(-1)
    ratio = short / noise_floor(level)
    return ratio.max(), ratio.argmax()


@torch.compile(backend="tpu", dynamic=False)
def match(bank, trace):
    """Best normalised correlation of a trace with the known events."""
    t = trace - trace.mean()
    b = bank - bank.mean(-1, keepdim=True)
    score = (b @ t) / (b.norm(dim=-1) * t.norm() + 1e-6)
    return score.max()
