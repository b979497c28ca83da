"""torch.compile, said in the source."""
import logging
import random
import time
import warnings

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader
from transformers import DataCollatorWithPadding

torch._dynamo.config.cache_size_limit = 64  # expect: recompile-limit
torch._dynamo.config.recompile_limit = 128  # expect: recompile-limit
torch._dynamo.config.accumulated_cache_size_limit = 1024  # expect: recompile-limit
torch._dynamo.config.accumulated_recompile_limit = 512  # expect: recompile-limit
torch._dynamo.config.recompile_limit = 9  # expect: recompile-limit
torch._dynamo.config.verbose = True  # clean: recompile-limit
torch._dynamo.config.cache_size_limit = 8  # clean: recompile-limit
torch._dynamo.config.recompile_limit = 4  # clean: recompile-limit
cache_size_limit = 64  # clean: recompile-limit
torch.backends.cuda.matmul.allow_tf32 = True  # clean: recompile-limit


@torch.compile
def step(x, y: torch.Tensor, n: int):
    if y.mean() > 0:  # expect: value-branch
        y = -y
    for _ in range(n):  # clean: python-loop
        x = x + 1
    print("step")  # expect: traced-print
    start = time.time()  # expect: traced-side-effect
    z = x[y > 0]  # expect: mask-gather
    loss = z.sum().item()  # expect: host-sync
    return loss, start


@torch.compile(fullgraph=True)
def no_step(x, y: torch.Tensor, flag: bool = False):
    if flag:  # clean: value-branch
        x = x + 1
    if torch.is_tensor(y) and y.dim() == 2:  # clean: value-branch
        x = x * 2
    x = x.masked_fill(y > 0, 0.0)  # clean: mask-gather
    x[y > 1] = 0  # clean: mask-gather
    return torch.where(y > 0, x, y)


def scaled(x, lr):
    return x * lr


fast = torch.compile(scaled)


def schedule(x, base):
    for i in range(100):
        fast(x, base * 0.9 ** i)  # expect: baked-constant
        fast(x, i)  # expect: baked-constant
        fast(x, lr=i / 100)  # expect: baked-constant
    t = 1.0
    for _ in range(10):
        t *= 0.9
        fast(x, t)  # expect: baked-constant
    for epoch, batch in enumerate(x):
        fast(batch, epoch)  # expect: baked-constant
    return x


def no_schedule(x, base):
    for i in range(100):
        fast(x, base)  # clean: baked-constant
        fast(x, torch.tensor(base * i))  # clean: baked-constant
        scaled(x, i)  # clean: baked-constant
        fast(x * i, 2.0)  # clean: baked-constant
    fast(x, 3)  # clean: baked-constant
    return x


def compile_again(models, x):
    for model in models:
        each = torch.compile(model)  # clean: fresh-jit
        each(x)
    for _ in range(3):
        fast_model = torch.compile(models[0])  # clean: fresh-jit
        fast_model(x)
    for factor in (2, 3):
        torch.compile(lambda v: v * factor)(x)  # expect: fresh-jit
        torch.compile(lambda v: v + 1)(x)  # clean: fresh-jit
    compiled = [torch.compile(m) for m in models]  # clean: fresh-jit
    return compiled


@torch.compile
def log_rank(x, rank, global_step):
    if rank == 0:  # expect: rank-branch
        x = x + 1
    if torch.distributed.get_rank() == 0:  # expect: rank-branch
        x = x * 2
    if global_step % 50 == 0:  # expect: logging-branch
        x = x - 1
    if (global_step + 1) % 5 == 0:  # expect: logging-branch
        x = x * 3
    noise = random.random()  # expect: traced-side-effect
    return x * noise


def log_ranks(x, rank):
    for turn in range(100):
        x = log_rank(x, rank, turn)  # expect: baked-constant
    return x


def train_ranks(x):
    return log_ranks(x, torch.distributed.get_rank())


@torch.compile
def layers(x, n_layers: int):
    ranks = torch.linalg.matrix_rank(x)
    if x.dim() == 3:  # clean: rank-branch
        x = x[0]
    return x, ranks


def data(train_set, val_set, tokenizer):
    a = DataLoader(train_set, batch_size=32, shuffle=True)  # expect: last-batch
    b = DataLoader(train_set, 32, shuffle=True)  # expect: last-batch
    c = torch.utils.data.DataLoader(train_set, batch_size=8, sampler=tokenizer)  # expect: last-batch
    d = DataLoader(dataset=train_set, batch_size=16, shuffle=True)  # expect: last-batch
    contest = DataLoader(train_set, batch_size=len(tokenizer), shuffle=True)  # expect: last-batch
    e = DataLoader(train_set, batch_size=32, drop_last=True)  # clean: last-batch
    second = DataLoader(val_set, batch_size=32)  # clean: last-batch
    f = DataLoader(train_set, batch_size=1)  # clean: last-batch
    g = DataLoader(train_set, batch_sampler=val_set)  # clean: last-batch
    h = DataLoader(train_set)  # clean: last-batch
    return a, b, c, d, e, f, g, h, contest, second


def padding(tokenizer, texts, rows):
    a = tokenizer(texts, padding=True)  # expect: dynamic-padding
    b = tokenizer(texts, padding="longest", return_tensors="pt")  # expect: dynamic-padding
    c = DataCollatorWithPadding(tokenizer)  # expect: dynamic-padding
    d = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)  # expect: dynamic-padding
    e = tokenizer.pad(rows, padding=True)  # expect: dynamic-padding
    f = tokenizer(texts, padding="max_length", max_length=512)  # clean: dynamic-padding
    g = tokenizer(texts, padding=True, pad_to_multiple_of=128)  # clean: dynamic-padding
    h = tokenizer(texts)  # clean: dynamic-padding
    i = DataCollatorWithPadding(tokenizer, padding="max_length")  # clean: dynamic-padding
    j = F.pad(rows, (0, 3))  # clean: dynamic-padding
    return a, b, c, d, e, f, g, h, i, j


def anomalies():
    torch.autograd.set_detect_anomaly(True)  # expect: debug-flags
    torch.autograd.set_detect_anomaly(False)  # clean: debug-flags
    logging.info("x")


@torch.compile
def picked_by_use(x, chosen, mask, index):
    y = x[index]  # clean: mask-gather
    z = x[mask]  # clean: mask-gather
    return y.sum() + z.sum() + x[chosen].sum() + (~chosen).sum()  # expect: mask-gather


@torch.compile
def scaled_by(x, depth):
    return x * depth


FEW = 2
for depth in (2, 4, 6):
    scaled_by(torch.ones(3), depth)  # expect: baked-constant
for depth in [FEW, FEW + 2]:
    scaled_by(torch.ones(3), depth)  # expect: baked-constant
for depth in (2, 2, 2):
    scaled_by(torch.ones(3), depth)  # clean: baked-constant


LOG = logging.getLogger(__name__)


@torch.compile
def checked(loss: torch.Tensor, low: torch.Tensor, verbose: bool):
    if loss.item() > 1.0:  # expect: host-sync
        LOG.info("the loss is %.2f", loss.item())  # clean: host-sync
    if low < 0 or verbose:  # expect: value-branch
        print(f"the lowest is {low.item():.4f}")  # expect: traced-print
    if torch.any(low.isnan()):  # expect: value-branch
        warnings.warn(f"{torch.sum(low.isnan()).item()} are no numbers")  # clean: host-sync
    if verbose:
        LOG.info("the lowest is %.4f", low.item())  # expect: host-sync
    if low > 3:  # expect: value-branch
        loss = loss + low.item()  # expect: host-sync
    return loss


class Vectors(torch.nn.Module):
    def forward(self, v):
        if torch.jit.isinstance(v, list[str]):
            rows = []
            for sample in v:  # clean: python-loop
                rows.append(torch.tensor([float(x) for x in sample.split()]))  # clean: host-sync
            return torch.stack(rows)
        if torch.jit.isinstance(v, list[torch.Tensor]):
            return torch.stack(v)
        return v * float(v.sum())  # expect: host-sync
