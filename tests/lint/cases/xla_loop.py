"""PyTorch/XLA: lazy tensors, step loops, optimizers."""
import os

import torch
import torch.distributed as dist
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr
from torch.optim.lr_scheduler import CosineAnnealingLR

os.environ["XLA_IR_DEBUG"] = "1"  # expect: debug-flags
os.environ["XLA_USE_BF16"] = "1"  # expect: debug-flags
os.environ["PT_XLA_DEBUG"] = "0"  # clean: debug-flags
os.environ["PJRT_DEVICE"] = "TPU"  # clean: debug-flags
xr.initialize_cache("/tmp/cache")  # expect: torch-xla-cache
xr.initialize_cache("gs://bucket/x")  # expect: torch-xla-cache, remote-cache-path
xr.initialize_cache(os.path.expanduser("~/cache"), readonly=False)  # expect: torch-xla-cache
xr.use_spmd()  # clean: torch-xla-cache
xm.xla_device()  # clean: torch-xla-cache


def setup(model, device, checkpoint):
    xr.initialize_cache(f"/tmp/{device}")  # expect: torch-xla-cache
    xr.initialize_cache(path=checkpoint)  # expect: torch-xla-cache
    xr.world_size()  # clean: torch-xla-cache
    torch.save(model, "x")  # clean: torch-xla-cache
    model.initialize_cache("x")  # clean: torch-xla-cache
    a = torch.optim.AdamW(model.parameters(), lr=1e-3)  # expect: optimizer-scalar
    b = torch.optim.Adam(model.parameters())  # expect: optimizer-scalar
    c = torch.optim.AdamW(model.parameters(), lr=1e-3, capturable=False)  # expect: optimizer-scalar
    d = torch.optim.RMSprop(model.parameters(), lr=0.1)  # expect: optimizer-scalar
    e = torch.optim.AdamW(model.parameters(), lr=torch.tensor(1e-3), capturable=True)  # clean: optimizer-scalar
    f = torch.optim.SGD(model.parameters(), lr=0.1)  # clean: optimizer-scalar
    g = CosineAnnealingLR(a, 100)  # clean: optimizer-scalar
    h = torch.optim.Adam(model.parameters(), **checkpoint)  # clean: optimizer-scalar
    i = torch.optim.NAdam(model.parameters(), capturable=True)  # clean: optimizer-scalar
    model.load_state_dict(checkpoint, assign=True)  # expect: load-state-assign
    model.module.load_state_dict(checkpoint["model"], strict=False, assign=True)  # expect: load-state-assign
    model.load_state_dict(torch.load("a", map_location="cpu"), assign=True)  # expect: load-state-assign
    a.model.load_state_dict(state_dict=checkpoint, assign=True)  # expect: load-state-assign
    missing = model.encoder.load_state_dict(checkpoint, assign=True)  # expect: load-state-assign
    model.load_state_dict(checkpoint)  # clean: load-state-assign
    model.load_state_dict(checkpoint, assign=False)  # clean: load-state-assign
    a.load_state_dict(checkpoint["optimizer"])  # clean: load-state-assign
    model.load_weights(checkpoint, assign=True)  # clean: load-state-assign
    model.load_state_dict(checkpoint, strict=True)  # clean: load-state-assign
    return a, b, c, d, e, f, g, h, i, missing


def compilers(model, fn):
    a = torch.compile(model)  # expect: compile-on-xla
    b = torch.compile(fn, fullgraph=True)  # expect: compile-on-xla
    c = torch.compile(model, backend="inductor")  # expect: compile-on-xla
    d = torch.compile(model, dynamic=False)  # expect: compile-on-xla
    e = torch.compile(model, backend="openxla")  # clean: compile-on-xla
    f = torch_xla.compile(fn)  # clean: compile-on-xla
    g = torch.compile(backend="openxla")  # clean: compile-on-xla
    h = model.compile()  # clean: compile-on-xla
    i = compile("1 + 1", "x", "eval")  # clean: compile-on-xla
    return a, b, c, d, e, f, g, h, i


@torch.compile
def decorated(x):  # expect: compile-on-xla
    return x


def train(model, loader, optimizer, device, schedule):
    data = torch.randn(100, 8).to(device)
    for step, batch in enumerate(loader):
        loss = model(batch)
        loss.backward()
        if loss > 10:
            loss = loss * 0.5
        print(loss.item())  # expect: host-sync
        total = loss.cpu()  # expect: host-sync
        part = data[step * 8:step * 8 + 8]  # expect: slice-start
        for group in optimizer.param_groups:
            group["lr"] = schedule(step)  # expect: optimizer-scalar
        xm.optimizer_step(optimizer)
        if step % 10 == 0:  # expect: logging-branch
            xm.master_print(loss.item())
        if xm.is_master_ordinal():  # expect: rank-branch
            print(loss.item())
        if xm.is_master_ordinal():  # clean: rank-branch
            elapsed = step
        if step % 1000 == 0:  # clean: logging-branch
            best = step
        xm.rendezvous("step")  # expect: barrier-in-step
        dist.barrier()  # expect: barrier-in-step
        xm.wait_device_ops()  # expect: barrier-in-step, host-sync
        xm.mark_step()
    return total, part, elapsed, best


def checkpoint(model, optimizer, loader):
    xm.rendezvous("start")  # clean: barrier-in-step
    for step, batch in enumerate(loader):
        model(batch)
        if step % 500 == 0:
            xm.rendezvous("save")  # clean: barrier-in-step
        torch_xla.sync()
    dist.barrier()  # clean: barrier-in-step
    return model


def accumulate(model, loader, optimizer, accum_steps):
    for i, batch in enumerate(loader):
        optimizer.zero_grad()  # expect: grad-set-to-none
        loss = model(batch)
        loss.backward()
        torch_xla.sync()  # expect: micro-step-region
        if (i + 1) % accum_steps == 0:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)  # expect: grad-set-to-none
    for batch in loader:
        optimizer.zero_grad( )  # expect: grad-set-to-none
        for micro in batch.chunk(accum_steps):
            model(micro).backward()
            xm.mark_step()  # expect: micro-step-region
        optimizer.step()
    for batch in loader:
        model.zero_grad()  # expect: grad-set-to-none
        for _ in range(accum_steps):
            with torch_xla.step():  # expect: micro-step-region
                model(batch).backward()
    while True:
        optimizer.zero_grad(set_to_none=True)  # expect: grad-set-to-none
        for micro_batch in loader:
            model(micro_batch).backward()
            torch_xla.sync()  # expect: micro-step-region


micro_step = torch_xla.compile(lambda batch: batch.sum().backward())


def accumulate_compiled(batches, optimizer, n_micro):
    for micro_batch in batches:
        micro_step(micro_batch)  # expect: micro-step-region
    optimizer.zero_grad()  # clean: grad-set-to-none


def one_region(model, loader, optimizer, accum_steps):
    for batch in loader:
        optimizer.zero_grad(set_to_none=False)  # clean: grad-set-to-none
        for micro in batch.chunk(accum_steps):
            model(micro).backward()
        optimizer.step()
        torch_xla.sync()  # clean: micro-step-region
    for i, batch in enumerate(loader):
        model(batch).backward()
        if (i + 1) % accum_steps == 0:
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)  # clean: grad-set-to-none
            torch_xla.sync()  # clean: micro-step-region
    for batch in loader:
        with torch_xla.step():  # clean: micro-step-region
            model(batch)
    for micro in loader:
        model(micro)  # clean: micro-step-region
    xm.mark_step()  # clean: micro-step-region
    torch.zero_grad = None
    model.zero_grad(set_to_none=False)  # clean: grad-set-to-none
    return model.zero_grad  # clean: grad-set-to-none


class Ledger:
    """The user's own: it has neither gradients nor an optimizer's settings."""

    def __init__(self):
        self.param_groups = [{"lr": 0.0}]

    def zero_grad(self):
        self.param_groups = []


def own_names(model, loader, accum_steps):
    ledger = Ledger()
    for batch in loader:
        ledger.zero_grad()  # clean: grad-set-to-none
        for micro in batch.chunk(accum_steps):
            model(micro).backward()
        for entry in ledger.param_groups:
            entry["lr"] = len(batch)  # clean: optimizer-scalar


def other_names(model, loader, accum_steps, schedule):
    trainer = torch.optim.SGD(model.parameters(), lr=0.1)
    clear = trainer.zero_grad
    groups = trainer.param_groups
    for step, batch in enumerate(loader):
        clear()  # expect: grad-set-to-none
        for micro in batch.chunk(accum_steps):
            model(micro).backward()
        for group in groups:
            group["lr"] = schedule(step)  # expect: optimizer-scalar
        groups[0]["lr"] = torch.full((), schedule(step))  # clean: optimizer-scalar
        trainer.step()


def late(model, loader):
    for step, batch in enumerate(loader):
        score = torch.relu(model(batch))
        if step % 4 == 3:  # expect: logging-branch
            score = score + torch.sqrt(score)
        if step % 4 == 2:  # clean: logging-branch
            best = step
        xm.mark_step()


def widths(model, x):
    for k in [2, 3, 5]:
        score = torch.topk(model(x), k).values  # expect: topk-k
        same = torch.topk(model(x), 4).values  # clean: topk-k
        xm.mark_step()


def shifted(x, by, rate):
    return torch.roll(x, by, dims=1) * rate  # expect: baked-constant


def kept(x, by):
    return torch.roll(x, by, dims=1)  # clean: baked-constant


def numbers(model, loader, device):
    table = torch.zeros(64, 8, device=device)
    held = torch.arange(64)
    offset = 0
    for step, batch in enumerate(loader):
        x = torch.randn(8, 8).to(device)
        a = torch.roll(model(x), step, dims=1)  # expect: baked-constant
        b = model(x).roll((0, step % 4), (0, 1))  # expect: baked-constant
        c = x.narrow(1, offset, 2) + table.select(0, step)  # expect: baked-constant, baked-constant
        d = x.repeat(1, step + 1)  # expect: baked-constant
        e = torch.nn.functional.pad(x, (step, 0))  # expect: baked-constant
        f = x[:, step]  # expect: baked-constant
        table[step] = x[0]  # expect: baked-constant
        g = shifted(x, step, 0.1 * step) + kept(x, 3)
        h = x * (0.1 * step) + step  # clean: baked-constant
        i = torch.clamp(x, max=0.5 * step)  # clean: baked-constant
        j = torch.add(x, x, alpha=step)  # clean: baked-constant
        k = torch.roll(x, 3, dims=1)  # clean: baked-constant
        for turn in range(4):
            x = x + torch.roll(x, turn, dims=1)  # clean: baked-constant
            x = x + kept(x, turn)
            y = x[turn:turn + 2]  # clean: slice-start
        m = torch.roll(held, step).to(device)  # clean: baked-constant
        n = held[step:step + 8].to(device)  # clean: slice-start
        o = torch.gather(x, 1, torch.full((8, 1), step).to(device))  # clean: baked-constant
        offset += 2
        torch_xla.sync()
    for same in [3, 3, 3]:
        a = torch.roll(x, same, dims=1)  # clean: baked-constant
        torch_xla.sync()
    for by in [3, 1]:
        a = torch.roll(x, by, dims=1)  # clean: baked-constant
    torch_xla.sync()
    return a


def every_operation(device):
    for n in range(2, 9):
        x = torch.randn(8, 8).to(device)
        y = x.chunk(n)  # expect: baked-constant
        y = x.diagonal(n)  # expect: baked-constant
        y = x.diag_embed(n)  # expect: baked-constant
        y = x.diag(n)  # expect: baked-constant
        y = x.expand(n, 8)  # expect: baked-constant
        y = x.flip(n)  # expect: baked-constant
        y = x.kthvalue(n)  # expect: baked-constant
        y = x.movedim(0, n)  # expect: baked-constant
        y = x.permute(n, 0)  # expect: baked-constant
        y = x.pow(n)  # expect: baked-constant
        y = x.repeat_interleave(n, dim=0)  # expect: baked-constant
        y = x.reshape(n, -1)  # expect: baked-constant
        y = x.rot90(n)  # expect: baked-constant
        y = x.select_scatter(x[0], 0, n)  # expect: baked-constant
        y = x.slice_scatter(x[:4], 0, n, 8)  # expect: baked-constant
        y = x.split(n)  # expect: baked-constant
        y = x.tensor_split(n)  # expect: baked-constant
        y = x.tile(1, n)  # expect: baked-constant
        y = x.transpose(0, n)  # expect: baked-constant
        y = x.tril(n)  # expect: baked-constant
        y = x.triu(n)  # expect: baked-constant
        y = x.unfold(0, n, 1)  # expect: baked-constant
        y = x.view(n, -1)  # expect: baked-constant
        y = torch.nn.functional.one_hot(x.long(), n)  # expect: baked-constant
        y = x.masked_fill(x > 0, n)  # clean: baked-constant
        y = x.clamp(max=n)  # clean: baked-constant
        y = x.mul(n)  # clean: baked-constant
        torch_xla.sync()
    return y


def averages(model, device, keep):
    average = torch.zeros(8).to(device)
    spread = torch.zeros(8).to(device)
    held = torch.zeros(8)
    for step in range(9):
        level = model(torch.randn(8, 8).to(device)).mean(0)
        if step in (4, 7):  # expect: donation-change
            average = average * 0.9 + level
        else:
            average.mul_(0.9).add_(level)
        if step > 5:  # expect: donation-change
            spread += level
        else:
            spread = spread + level
        if keep:  # clean: donation-change
            average = average * 0.9 + level
        else:
            average.mul_(0.9).add_(level)
        if step in (4, 7):  # clean: donation-change
            average.mul_(0.8)
        else:
            average.mul_(0.9)
        if step in (4, 7):  # clean: donation-change
            average = average + 1
        else:
            average = average + 2
        if step in (4, 7):  # clean: donation-change
            held = held + 1
        else:
            held.add_(1)
        if step in (4, 7):  # clean: donation-change
            average = average * 0.9
        else:
            average.clone().add_(level)
        torch_xla.sync()
    for step in range(9):
        if step in (4, 7):  # clean: donation-change
            average = average * 0.9
        else:
            average.mul_(0.9)
    return average, spread


def epochs(model, optimizer, loader):
    for epoch in range(9):
        for x in loader:
            optimizer.zero_grad(set_to_none=False)
            loss = model(x).sum()
            loss.backward()
            xm.optimizer_step(optimizer)
            torch_xla.sync()
        print(epoch, loss.item())  # clean: host-sync
    for x in loader:
        loss = model(x).sum()
        print(loss.item())  # expect: host-sync
        torch_xla.sync()
