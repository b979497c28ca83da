"""Functions of modules that work on the host, and other code that a module's users do not compile."""
import functools
import os
import random

import torch
from flash_attn.flash_attn_interface import flash_attn_varlen_func
from padding import prepared
from scipy.optimize import linear_sum_assignment
from torch import nn
from torchvision.transforms import functional as pictures

DEBUG = "STEP_DEBUG"


class Aligner(nn.Module):
    """A search: one finding for each function that needs values all over."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 8)

    def best_path(self, scores: torch.Tensor, back: torch.Tensor):  # expect: host-function (note)
        at = scores.argmax().item()  # clean: host-sync
        path = [at]
        for turn in range(scores.shape[0]):  # clean: python-loop
            at = back[turn, at].item()  # clean: host-sync
            if scores[turn, at] < 0:  # clean: value-branch
                break
            path.append(refined(scores, at))
        return path

    def forward(self, x: torch.Tensor, back: torch.Tensor):
        return self.best_path(self.head(x), back)


def refined(scores: torch.Tensor, at: int):
    """Only the search calls it: it stays out of compiled code with that."""
    return scores[at].max().item()  # clean: host-sync


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([nn.Linear(8, 8)])

    def forward(self, x: torch.Tensor, chosen: torch.Tensor):  # expect: host-function
        hit = torch.greater(chosen.sum(0), 0).nonzero()  # clean: mask-gather
        for expert in hit:  # clean: python-loop
            if expert[0] == len(self.parts):  # clean: value-branch
                continue
            rows = torch.where(chosen[expert[0]])[0]  # clean: mask-gather
            x = x.index_add(0, rows, x[rows])
        return x


class Packer(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, lengths: torch.Tensor):  # expect: host-function
        parts = x.split(lengths.tolist())  # clean: size-from-value
        longest = int(lengths.max())  # clean: host-sync
        rows = torch.zeros(longest)  # clean: size-from-value
        if (lengths == 0).any():  # clean: value-branch
            return rows
        return [self.head(part) for part in parts]


def crop(x: torch.Tensor, keep: torch.Tensor):  # expect: host-function
    if keep.sum() == 0:  # clean: value-branch
        return x
    found = x[keep > 0]  # clean: mask-gather
    top = int(keep.nonzero().min())  # clean: host-sync
    return found[top:]


def sample(weights: torch.Tensor):  # expect: host-function
    """A function of several modules."""
    total = weights.sum().item()  # clean: host-sync
    low = weights.min().item()  # clean: host-sync
    high = weights.max().item()  # clean: host-sync
    return random.uniform(low, high) * total  # clean: traced-side-effect


class Cropper(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, keep: torch.Tensor):  # clean: host-function
        return self.head(crop(x, keep)) * sample(x)


class Checked(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor):  # clean: host-function
        if x.isnan().any():  # expect: value-branch
            x = x.abs()
        y = x[x > 0]  # expect: mask-gather
        return self.head(y)

    def guarded(self, x: torch.Tensor):  # clean: host-function
        if not torch.compiler.is_compiling():
            if x.max() > 1:
                x = x - 1
            if x.min() < 0:
                x = x + 1
            x = x[x > 0]
        return x


@torch.compile
def compiled(x: torch.Tensor):  # clean: host-function
    low = x.min().item()  # expect: host-sync
    high = x.max().item()  # expect: host-sync
    mean = x.mean().item()  # expect: host-sync
    return x * (high - low) + mean


def eager(x: torch.Tensor):  # clean: host-function
    low = x.min().item()
    high = x.max().item()
    mean = x.mean().item()
    return x * (high - low) + mean


@torch.compiler.disable
def disabled(x: torch.Tensor):  # clean: host-function
    low = x.min().item()
    high = x.max().item()
    return low + high + x.mean().item()


class Failing(nn.Module):
    """What runs only on the way to an error."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, boxes: torch.Tensor):
        try:
            x = self.head(x)
        except ValueError as error:
            first = x.flatten()[0].item()  # clean: host-sync
            raise ValueError(first) from error
        try:
            x = self.head(x)
        except ValueError:
            x = x + x.sum().item()  # expect: host-sync
        bad = boxes[:, 2:] <= boxes[:, :2]
        if bad.any():  # expect: value-branch
            where = torch.where(bad)[0][0]  # clean: mask-gather
            torch._assert(False, f"box {boxes[where].tolist()}")  # clean: host-sync
        return x

    def checks(self, x: torch.Tensor):
        if x.dim() != 2:
            print(x.sum().item())
            assert False, "two dimensions"
        return x


class Exported(nn.Module):
    """Written for torch.export, where a number that is read stays a symbol."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, sizes: torch.Tensor):
        rows = sizes[0].item()  # clean: host-sync
        torch._check(rows > 0)
        columns = sizes[1].item()  # expect: host-sync
        x = torch.cond(x.isnan().all().item(), self.zero, self.head, (x,))  # clean: host-sync
        return x[:rows] * columns

    def zero(self, x):
        return x * 0


class Spans(nn.Module):
    """One read for the whole call: what it reads is not gathered for the device."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 8)

    def forward(self, mask: torch.Tensor):
        start = mask.nonzero()  # clean: mask-gather
        stop = (~mask).nonzero()[:, 1]  # clean: mask-gather
        both = torch.stack([start[:, 0], stop], dim=1)
        return [a + b for a, b in both.tolist()]  # expect: host-sync


class Gathers(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor):
        kept = x[x > 0]  # expect: mask-gather
        return self.head(kept).sum().item()  # expect: host-sync


class Turned(nn.Module):
    """No weights and no parts: it prepares data, and draws on the host."""

    def __init__(self, chance):
        super().__init__()
        self.chance = chance
        self.weights = [0.1, 0.9]

    def forward(self, x):
        if torch.rand(1) < self.chance:  # clean: value-branch
            return x.flip(-1)
        return x.roll(int(torch.multinomial(torch.tensor(self.weights), 1)), -1)  # clean: host-sync


class Dropped(nn.Module):
    """A part of a model: the graph is another one where a layer is left out."""

    def __init__(self, chance):
        super().__init__()
        self.chance = chance
        self.layers = nn.ModuleList([nn.Linear(8, 8)])

    def forward(self, x):
        for layer in self.layers:
            if torch.rand([]) < self.chance:  # expect: value-branch
                continue
            x = layer(x)
        return x


class Cropped(nn.Module):
    """The type says tensor; what takes it are functions of pictures."""

    def place(self, picture: torch.Tensor):
        _, height, width = pictures.get_dimensions(picture)
        return random.randint(0, height), random.randint(0, width)  # clean: traced-side-effect

    def forward(self, picture: torch.Tensor):
        top, left = self.place(picture)
        return pictures.crop(picture, top, left, 8, 8)


class Jittered(nn.Module):
    def forward(self, x: torch.Tensor):
        return x * random.random()  # expect: traced-side-effect


class Scaled(nn.Module):
    def forward(self, x: torch.Tensor):
        noise = random.uniform(0.5, 2)  # clean: traced-side-effect
        return x * noise * random.randint(1, 9)  # clean: traced-side-effect


class Chosen(nn.Module):
    def forward(self, x: torch.Tensor):
        turns = random.randint(1, 9)  # expect: traced-side-effect
        if turns > 4:
            return x * turns
        return x if random.uniform(0, 1) < 0.5 else x + 1  # expect: traced-side-effect


def debugging():
    return os.getenv(DEBUG, "0") in {"1", "true"}


def show(x):
    if not debugging():
        return
    print("x", x)  # clean: traced-print


@torch.compile
def shown(x: torch.Tensor):
    if os.environ.get(DEBUG):
        print("before")  # clean: traced-print
    show(x)
    print("after")  # expect: traced-print
    return x + 1


class Searching(nn.Module):
    """A search needs the value in order to end. That alone is no finding of a module."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor):
        for _ in range(8):
            x = self.head(x)
            if x.abs().max() < 1e-3:  # clean: value-branch
                break
            error = x.norm().item()  # clean: host-sync
            if error < 1e-6:
                return x
        return x


class Halved(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor):
        if x.abs().max() > 8:  # expect: value-branch
            x = x / 2
        return self.head(x)


class Copied(nn.Module):
    """A copy to the host is an operation; what NumPy and SciPy do with it is not."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor):
        y = self.head(x).cpu()  # clean: host-sync
        rows, _ = linear_sum_assignment(y)  # expect: host-sync
        z = x.cpu().numpy()  # expect: host-sync
        return rows, z


class Converted(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, fill=0.0):
        fill = float(fill) if isinstance(fill, torch.Tensor) else fill  # clean: host-sync
        scale = float(x.sum()) if x.dim() else 1.0  # expect: host-sync
        return self.head(x) + fill * scale


class Lists(nn.Module):
    """Turns that only fill lists."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 8)
        self.parts = nn.ModuleList([nn.Linear(8, 8)])

    def forward(self, x: torch.Tensor, order: torch.Tensor):
        rows = []
        for i in range(x.shape[0]):  # clean: python-loop
            rows.append([x[i], i])
        for i in range(x.shape[0]):  # expect: python-loop
            rows.append(x[i] * 2)
        chosen = []
        parts = list(self.parts)
        for index in order:  # clean: python-loop
            chosen.append(parts[index])
        return rows, chosen


class Flagged(nn.Module):
    """A flag that nothing compiled gives has its default."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 8)

    def merge(self, x: torch.Tensor, safe=False, limit=None):
        if safe:
            if not x.isfinite().all():  # clean: value-branch
                raise ValueError("not finite")
        if limit is not None:
            self.check(x)
        return x

    def check(self, x: torch.Tensor):
        return x.max().item()  # clean: host-sync

    def joined(self, x: torch.Tensor, last):
        if last:
            return x.max().item()  # clean: host-sync
        return x

    def ended(self, x: torch.Tensor, last):
        if last:
            return x.max().item()  # expect: host-sync
        return x

    def guard(self, x: torch.Tensor, safe=False):
        if safe and not x.isfinite().all():  # expect: value-branch
            x = x * 0
        return x

    def forward(self, x: torch.Tensor):
        self.joined(x, last=False)
        self.ended(x, self.training)
        return self.guard(self.merge(self.head(x)), safe=True)


def bounds(x):
    if isinstance(x, torch.Tensor):
        low = x.min()
    else:
        low = float(x.min())  # clean: host-sync
    return low + float(x.max())  # expect: host-sync


class Bounded(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor):
        return self.head(x) - bounds(x)


class Sized(nn.Module):
    """Tensors of sizes, made on the host."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor):
        count = int(torch.tensor(x.shape[:-1]).prod())  # clean: host-sync
        sizes = torch.Tensor([part.shape for part in x.split(2)])
        if (torch.ceil(torch.max(sizes, dim=0)[0] / 8) * 8 - sizes).sum() == 0:  # clean: value-branch
            x = x.reshape(count, -1)
        lengths = torch.tensor(x.shape, device=x.device)
        return self.head(x), lengths.tolist()  # expect: host-sync


class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.topk = Experts()
        self.head = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, k: torch.Tensor):
        checking = not torch.compiler.is_compiling()
        if checking and x.isnan().any():  # clean: value-branch
            raise ValueError("not a number")
        y = self.topk(x, k)  # clean: topk-k
        values, _ = x.topk(int(k.max()))  # expect: topk-k, host-sync
        return self.head(y) + values


@functools.lru_cache
def probes(device):
    return torch.ones(2, device=device).sum().item() == 2  # clean: host-sync


_known = {}
_seen = {}


def measures(device):
    return torch.ones(2, device=device).sum().item() == 2  # clean: host-sync


def works(device):
    found = _known.get(device)
    if found is not None:
        return found
    found = measures(device) and torch.ones(3, device=device).sum().item() == 3  # clean: host-sync
    _known[device] = found
    return found


def counted(device):
    found = torch.ones(3, device=device).sum().item() == 3  # expect: host-sync
    _seen[device] = found
    return found


class Probing(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, lengths: torch.Tensor):
        for t in range(lengths.max()):
            if t == 0:  # clean: value-branch
                x = x + 1
        if probes("cuda") or works("cuda") or counted("cuda"):
            x = self.head(x)
        return x


@torch.jit.script
def scripted(x: torch.Tensor, n: torch.Tensor):
    return x[: int(n)]  # clean: host-sync


class Scripted(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, n: torch.Tensor, batch: dict):
        first = batch.get("first")  # clean: optional-key
        if n.max() < 0 or n.min() < 0:  # expect: value-branch
            x = x + first["x"]
        return scripted(self.head(x), n)


def slowly(f):
    limit = torch._dynamo.config.cache_size_limit
    try:
        torch._dynamo.config.cache_size_limit = 64  # clean: recompile-limit
        return f()
    finally:
        torch._dynamo.config.cache_size_limit = limit


def moved(x: torch.Tensor, extra):
    if extra > 0:  # clean: value-branch
        x = x[:, :-extra]
    return x


class Unpadded(nn.Module):
    """Nothing shows that `extra` is a tensor, and its use shows that it is none."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor):
        x, extra = prepared(x)
        return moved(self.head(x), extra)


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(())

    def forward(self, x: torch.Tensor):
        return x * self.scale  # clean: self-value


def convert(count):
    made = []
    for _ in range(count):
        one = Scaled()
        one.scale = torch.zeros(())
        made.append(one)
    return made


class Equal(nn.Module):
    """Rows that are all as long as the padded ones."""

    def forward(self, q: torch.Tensor, starts: torch.Tensor):
        rows, length = q.shape[:2]
        even = torch.arange(0, (rows + 1) * length, step=length, device=q.device)
        first = flash_attn_varlen_func(q, q, q, even, even, length, length)  # clean: varlen
        return first + flash_attn_varlen_func(q, q, q, starts, starts, length, length)  # expect: varlen


_streams: dict = {}


def stream(name):
    global _streams
    if name in _streams:
        return _streams[name]  # clean: global-value
    _streams[name] = torch.cuda.Stream()  # clean: global-value
    return _streams[name]


@torch.compile
def streamed(x, out: torch.Tensor | None = False):
    stream("copy")
    if out:  # clean: value-branch
        x = x + 1
    return x


class Measured(nn.Module):
    """Numbers of the host: drawn or written down there, or sizes."""

    def table(self, bins):
        return {"turn": (torch.linspace(0.0, 0.3, bins), True), "keep": (torch.tensor(0.0), False)}

    def forward(self, x: torch.Tensor, images: torch.Tensor, depth=0):
        parts = torch.randint(2, 5, (1,))
        cuts = torch.linspace(0, x.shape[1], parts.item() + 1)  # clean: host-sync, size-from-value
        turns = depth if depth > 0 else int(torch.randint(1, 4, (1,)).item())  # clean: host-sync
        for _ in range(turns):  # clean: python-loop
            x = x * 2
        angles, _ = self.table(9)["turn"]
        x = x * float(angles[3].item())  # clean: host-sync
        odds = torch.rand(len(images), device="cpu")
        if float(odds[0]) < 0.5:  # clean: host-sync, value-branch
            x = -x
        half = int(torch.div(x.shape[-1], 2))  # clean: host-sync
        for image in images:  # clean: python-loop
            if image.shape != x.shape or image.size(0) < half:
                raise ValueError(f"{image.shape}")
        for image in images:  # expect: python-loop (note)
            x = x + image
        return x, cuts


class Given(nn.Module):
    def forward(self, x: torch.Tensor, mask: torch.Tensor):
        kept = {"mask": torch.zeros(3)}
        kept["mask"] = mask
        x = x * kept["mask"][0].item()  # expect: host-sync
        there = torch.rand(3, device=x.device)
        if mask is None:
            scale = 1.0
        else:
            scale = there[0].item()  # expect: host-sync
        return x * scale


class Padded(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 8)

    def forward(self, q, starts=None):
        rows, length = q.shape[:2]
        q = self.head(q)
        if starts is None:
            starts = torch.arange(0, (rows + 1) * length, step=length, device=q.device)
            return flash_attn_varlen_func(q, q, q, starts, starts, length, length)  # clean: varlen
        return flash_attn_varlen_func(q, q, q, starts, starts, length, length)  # expect: varlen


class Counted(nn.Module):
    def sizes(self, x, n):
        rows = 0
        if n:
            rows = x.shape[1]
        return x, x, x, x, rows, None

    def forward(self, x: torch.Tensor, rows, images: list):
        seed = int(torch.seed() % 99)  # clean: host-sync
        a, b, c, d, count, _ = (
            self.sizes(x, seed)
        )
        if count > 0:  # clean: value-branch
            a = a + b
        if a.sum() > 0:  # expect: value-branch
            c = c + d
        counts = torch.tensor([len(image) + image.rows for image in images])
        if isinstance(rows, torch.Tensor):
            rows = rows.cpu().numpy()  # clean: host-sync
        words = []
        for i in range(len(rows)):  # clean: python-loop
            words.append(self.words(rows[i] + 1))
        return a, words, c * counts.max().item()  # clean: host-sync
