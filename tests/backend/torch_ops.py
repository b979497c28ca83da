"""Compares torch operations on a device with torch's CPU, values and gradients.

usage: torch_ops.py {tpu|xla} RESULT.json     writes {case: "" or what went wrong}"""
import json
import sys

import torch
import torch.nn.functional as F

device, result = sys.argv[1:]
if device == "xla":
    import torch_xla  # noqa: F401

generator = torch.Generator().manual_seed(1)


def r(*shape):
    return torch.randn(*shape, generator=generator)


def pos(*shape):
    return r(*shape).abs() * 0.5 + 0.1


def n(bound, *shape):
    return torch.randint(0, bound, shape, generator=generator)


def ones_into(x):
    y = x.clone()
    y[1:3].copy_(torch.ones(2, 8, device=x.device))
    return y


def zeros(x, *shape):
    return torch.zeros(*shape, device=x.device)


CASES = {}  # name: (function, arguments)
for name in ("abs neg exp expm1 sin cos tan tanh sigmoid relu erf floor ceil round trunc frac sign reciprocal square atan "
             "sinh cosh asinh exp2 isnan isfinite isinf nan_to_num").split():
    CASES[name] = getattr(torch, name), r(3, 5)
for name in "log log1p sqrt rsqrt log2 log10 logit asin acos lgamma digamma erfinv".split():
    CASES[name] = getattr(torch, name), pos(3, 5).clamp(max=0.9)
for name in "gelu silu softplus leaky_relu hardswish hardtanh relu6 hardsigmoid softsign logsigmoid normalize".split():
    CASES["F." + name] = getattr(F, name), r(3, 5)
for name in "add sub mul div pow maximum minimum atan2 fmod remainder eq lt ge fmax".split():
    CASES[name] = getattr(torch, name), pos(3, 5), pos(3, 5)
for name in "sum mean prod amax amin logsumexp var std argmax argmin cumsum cumprod logcumsumexp".split():
    CASES[name + " of rows"] = lambda x, f=getattr(torch, name): f(x, dim=1), r(4, 6)
CASES.update({
    "all": (lambda x: (x > 0).all(1), r(4, 6)), "any": (lambda x: (x > 1).any(1), r(4, 6)),
    "matmul": (torch.matmul, r(3, 4), r(4, 5)), "bmm": (torch.bmm, r(2, 3, 4), r(2, 4, 5)),
    "einsum": (lambda a, b: torch.einsum("bij,bkj->bik", a, b), r(2, 3, 4), r(2, 5, 4)),
    "addmm": (torch.addmm, r(5), r(3, 4), r(4, 5)), "outer": (torch.outer, r(3), r(4)),
    "bf16 matmul": (lambda a, b: (a.bfloat16() @ b.bfloat16()).float(), r(4, 8), r(8, 4)),
    "f64 matmul": (lambda a, b: a.double() @ b.double(), r(4, 8), r(8, 4)),
    "conv1d": (lambda x, w: F.conv1d(x, w, padding=1), r(2, 3, 10), r(4, 3, 3)),
    "conv2d groups": (lambda x, w: F.conv2d(x, w, groups=4), r(2, 4, 8, 8), r(4, 1, 3, 3)),
    "conv2d dilated": (lambda x, w: F.conv2d(x, w, dilation=2, stride=2), r(2, 4, 8, 8), r(4, 4, 3, 3)),
    "conv3d": (F.conv3d, r(1, 2, 4, 4, 4), r(3, 2, 2, 2, 2)),
    "conv transposed": (lambda x, w: F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1), r(2, 4, 5, 5),
                        r(4, 3, 3, 3)),
    "max_pool2d": (lambda x: F.max_pool2d(x, 3, 2, 1), r(2, 3, 8, 8)),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 3, 2, 1), r(2, 3, 8, 8)),
    "adaptive_avg_pool2d": (lambda x: F.adaptive_avg_pool2d(x, 2), r(2, 3, 8, 8)),
    "interpolate": (lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), r(1, 2, 4, 4)),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (8,), w, b), r(3, 8), r(8), r(8)),
    "group_norm": (lambda x, w, b: F.group_norm(x, 2, w, b), r(2, 4, 5), r(4), r(4)),
    "batch_norm": (lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), r(4, 3, 5, 5), r(3), r(3)),
    "rms_norm": (lambda x, w: F.rms_norm(x, (8,), w), r(3, 8), r(8)),
    "softmax": (lambda x: F.softmax(x, -1), r(3, 8)), "log_softmax": (lambda x: F.log_softmax(x, -1), r(3, 8)),
    "cross_entropy": (lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1), r(6, 5), n(5, 6)),
    "ignored labels": (F.cross_entropy, r(6, 5), torch.tensor([0, 1, -100, 3, 4, -100])),
    "bce": (F.binary_cross_entropy_with_logits, r(6), r(6).sigmoid()), "l1_loss": (F.l1_loss, r(6), r(6)),
    "embedding": (F.embedding, n(7, 3, 4), r(7, 5)),
    "gather": (lambda x, i: torch.gather(x, 1, i), r(4, 6), n(6, 4, 2)),
    "index": (lambda x, i: x[i], r(4, 6), n(4, 3)), "index by two": (lambda x, i, j: x[i, j], r(4, 6), n(4, 3), n(6, 3)),
    "index_put": (lambda x, i, v: x.index_put((i,), v, accumulate=True), r(4, 6), n(4, 2), r(2, 6)),
    "scatter": (lambda x, i, v: x.scatter(1, i, v), r(4, 6), torch.tensor([[0, 2], [1, 3]]), r(2, 2)),
    "scatter_add": (lambda x, i, v: x.scatter_add(0, i, v), r(4, 6), n(4, 2, 2), r(2, 2)),
    "index_add": (lambda x, i, v: x.index_add(0, i, v), r(4, 6), n(4, 3), r(3, 6)),
    "masked_fill": (lambda x: x.masked_fill(x > 0, -1.0), r(4, 6)), "where": (lambda a, b: torch.where(a > b, a, b), r(4, 6), r(4, 6)),
    "boolean mask": (lambda x: x[x > 0].sum(), r(4, 6)), "nonzero": (lambda x: (x > 0).nonzero(), r(4, 6)),
    "topk": (lambda x: torch.topk(x, 3)[0], r(4, 6)), "topk indices": (lambda x: torch.topk(x, 3)[1], r(4, 6)),
    "argsort": (lambda x: x.argsort(-1, descending=True), r(4, 6)), "sort": (lambda x: x.sort(-1)[0], r(4, 6)),
    "unique": (lambda x: x.unique(), n(4, 9)), "cummax": (lambda x: x.cummax(1)[0], r(3, 5)),
    "tril": (torch.tril, r(4, 4)), "triu": (lambda x: x.triu(1), r(4, 4)), "flip": (lambda x: x.flip(1), r(4, 4)),
    "roll": (lambda x: x.roll(1, 1), r(4, 4)), "pad": (lambda x: F.pad(x, (1, 2, 0, 1)), r(2, 3, 4, 4)),
    "pad by reflection": (lambda x: F.pad(x, (1, 2, 1, 1), mode="reflect"), r(2, 3, 4, 4)),
    "cat": (lambda a, b: torch.cat([a, b]), r(2, 3), r(4, 3)), "stack": (lambda a, b: torch.stack([a, b], 1), r(2, 3), r(2, 3)),
    "split": (lambda a: a.split(2)[1], r(6, 3)), "unfold": (lambda x: F.unfold(x, 3), r(1, 2, 5, 5)),
    "repeat": (lambda a: a.repeat(2, 2), r(2, 3)), "repeat_interleave": (lambda a: a.repeat_interleave(2, 1), r(2, 3)),
    "permute": (lambda a: a.permute(2, 0, 1).contiguous(), r(2, 3, 4)), "strided slice": (lambda a: a[1:5:2, ::3] * 2, r(6, 8)),
    "write into a slice": (ones_into, r(6, 8)), "in place": (lambda a: a.clone().add_(1).mul_(2), r(6)),
    "attention": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), r(1, 2, 4, 8), r(1, 2, 4, 8),
                  r(1, 2, 4, 8)),
    "masked attention": (lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m), r(1, 2, 4, 8), r(1, 2, 4, 8),
                         r(1, 2, 4, 8), r(4, 4) > -1),
    "lstm": (lambda x, a, b, c, d: torch.lstm(x, (zeros(x, 1, 2, 4), zeros(x, 1, 2, 4)), [a, b, c, d], True, 1, 0.0, False,
                                              False, False)[0], r(5, 2, 3), r(16, 3), r(16, 4), r(16), r(16)),
    "one_hot": (lambda x: F.one_hot(x, 4), n(4, 5)), "arange": (lambda x: torch.arange(7, device=x.device) * 2, r(1)),
    "integer division": (lambda a, b: a // b, n(50, 6), n(5, 6) + 1), "integer remainder": (lambda a, b: a % b, n(50, 6) - 25, n(5, 6) + 1),
    "bits": (lambda a, b: (a & b) | (a ^ b) << 2, n(50, 6), n(50, 6)), "to int8": (lambda a: a.to(torch.int8) + 1, n(100, 6)),
    "complex": (lambda a, b: torch.view_as_real(torch.complex(a, b) * torch.complex(b, a)), r(4), r(4)),
    "fft": (lambda a: torch.view_as_real(torch.fft.fft(a)), r(8)),
    "inv": (torch.linalg.inv, torch.eye(4) * 3 + r(4, 4) * 0.1), "qr": (lambda a: torch.linalg.qr(a)[1].abs(), r(5, 3)),
    "batched qr": (lambda a: torch.linalg.qr(a)[0] @ torch.linalg.qr(a)[1], r(2, 4, 3)),
    "singular values": (lambda a: torch.linalg.svdvals(a.detach()), r(4, 4)),
    "triangular solve": (lambda a, b: torch.linalg.solve_triangular(a.tril(), b, upper=False), torch.eye(4) * 3 + 0.1, r(4, 2)),
    "clamp": (lambda a: a.clamp(-0.5, 0.5), r(6)), "lerp": (lambda a, b: a.lerp(b, 0.3), r(6), r(6)),
    "cdist": (torch.cdist, r(3, 4), r(5, 4)), "bincount": (lambda a: torch.bincount(a, minlength=5), n(5, 20)),
    "bucketize": (lambda a: torch.bucketize(a, torch.tensor([-1.0, 0.0, 1.0], device=a.device)), r(6)),
    "nothing": (lambda a: a.sum(0), r(0, 4)), "glu": (F.glu, r(4, 6)),
    "grid_sample": (lambda a, b: F.grid_sample(a, b, align_corners=False), r(1, 2, 4, 4), r(1, 3, 3, 2).tanh()),
    "randperm": (lambda x: torch.randperm(10, device=x.device).sort()[0], r(1)),
    "rand": (lambda x: (torch.rand(1000, device=x.device).mean() * 2).round(), r(1)),
    "randn": (lambda x: torch.randn(1000, device=x.device).std().round(), r(1)),
    "multinomial": (lambda p: torch.multinomial(p, 1), torch.tensor([0.0, 1.0, 0.0])),
    "dropout": (lambda x: ((F.dropout(x, 0.5) == 0).float().mean() * 2).round(), torch.ones(1000)),
})


def run(place, function, arguments):
    """Values, then gradients of those arguments that have some."""
    moved = [a.clone().to(place) for a in arguments]
    leaves = [m.requires_grad_() for m in moved if m.is_floating_point()]
    y = function(*moved)
    grads = []
    if y.requires_grad and y.numel():
        weights = torch.cos(torch.arange(y.numel(), dtype=torch.float32)).reshape(y.shape).to(place)
        (y.float() * weights).sum().backward()
        grads = [leaf.grad for leaf in leaves if leaf.grad is not None]
    return [t.detach().cpu() for t in (y, *grads)]


def compare(function, *arguments):
    try:
        got = run(device, function, arguments)
    except Exception as error:
        return str(error).strip() or repr(error)
    for i, (g, w) in enumerate(zip(got, run("cpu", function, arguments), strict=True)):
        if g.shape != w.shape or not torch.allclose(g.double(), w.double(), 3e-4, 1e-4, equal_nan=True):
            return f"gradient {i - 1} differs" if i else f"{g} instead of {w}"
    return ""


with open(result, "w") as f:
    json.dump({name: compare(*case) for name, case in CASES.items()}, f)
