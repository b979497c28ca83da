"""Programs of PyTorch/XLA for the differential test of the HLO readers.

Usage: torch_programs.py FOLDER [NAME...]: writes NAME.pb (HloModuleProto) and NAME.txt (XLA's own
text of it) for each program below. Runs in-process on the CPU (PJRT_DEVICE=CPU)."""

import os
import sys

os.environ.setdefault("PJRT_DEVICE", "CPU")

import torch
import torch.nn.functional as F
import torch_xla
import torch_xla.core.xla_model as xm

PROGRAMS = {}


def program(make):
    PROGRAMS[make.__name__] = make
    return make


def t(*shape, dtype=torch.float32, grad=False, seed=0):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(*shape, generator=g) if dtype.is_floating_point else torch.randint(
        0, 5, shape, generator=g)
    return x.to(dtype).to(xm.xla_device()).requires_grad_(grad)


def unary(name, fn, *shape, dtype=torch.float32):
    PROGRAMS[name] = lambda: [fn(t(*(shape or (3, 4)), dtype=dtype))]


for name in ("abs ceil floor exp expm1 log log1p sqrt rsqrt sin cos tan tanh sigmoid sign neg erf "
             "round reciprocal relu gelu silu isnan isfinite softmax asin acos atan sinh cosh").split():
    fn = getattr(torch, name, None) or getattr(F, name)
    unary("unary_" + name, (lambda x, f=fn: f(x, -1)) if name == "softmax" else fn)

BINARY = ("add sub mul div pow maximum minimum atan2 remainder fmod eq ne lt le gt ge "
          "logical_and").split()
for name in BINARY:
    PROGRAMS["binary_" + name] = lambda f=getattr(torch, name): [f(t(2, 3), t(2, 3, seed=1))]

for name in "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift".split():
    PROGRAMS["int_" + name] = lambda f=getattr(torch, name): [
        f(t(4, dtype=torch.int32), t(4, dtype=torch.int32, seed=1))]

for name in "sum mean amax amin prod argmax argmin cumsum cumprod logsumexp var std all any".split():
    PROGRAMS["reduce_" + name] = lambda f=getattr(torch, name): [f(t(4, 6), 1)]

for dtype in (torch.bfloat16, torch.float16, torch.float64, torch.int8, torch.uint8, torch.int16,
              torch.int64, torch.bool):
    PROGRAMS["convert_" + str(dtype).split(".")[1]] = lambda d=dtype: [t(2, 5).to(d)]


@program
def linear_backward():
    x, w, b = t(4, 8), t(3, 8, grad=True), t(3, grad=True)
    F.linear(x, w, b).relu().sum().backward()
    return [w.grad, b.grad]


@program
def conv2d_backward():
    x, w = t(2, 3, 8, 8, grad=True), t(4, 3, 3, 3, grad=True)
    F.conv2d(x, w, stride=2, padding=1).square().mean().backward()
    return [x.grad, w.grad]


@program
def conv_grouped_dilated():
    return [F.conv2d(t(1, 4, 9, 9), t(8, 2, 3, 3), groups=2, dilation=2, padding=(1, 2))]


@program
def conv_transpose():
    return [F.conv_transpose2d(t(1, 3, 4, 4), t(3, 2, 3, 3), stride=2, output_padding=1)]


@program
def conv1d():
    return [F.conv1d(t(2, 3, 10), t(5, 3, 4))]


@program
def max_pool_backward():
    x = t(1, 2, 6, 6, grad=True)
    F.max_pool2d(x, 3, 2, 1).sum().backward()
    return [x.grad]


@program
def avg_pool():
    return [F.avg_pool2d(t(1, 2, 6, 6), 2)]


@program
def batch_norm_training():
    x, w, b = t(4, 3, 5, 5, grad=True), t(3, grad=True), t(3, grad=True)
    F.batch_norm(x, t(3), t(3).abs(), w, b, training=True).sum().backward()
    return [x.grad, w.grad]


@program
def batch_norm_inference():
    return [F.batch_norm(t(4, 3, 5, 5), t(3), t(3).abs(), t(3), t(3), training=False)]


@program
def layer_norm():
    return [F.layer_norm(t(4, 8), (8,), t(8), t(8))]


@program
def embedding_backward():
    w = t(10, 4, grad=True)
    F.embedding(t(2, 3, dtype=torch.int64), w).sum().backward()
    return [w.grad]


@program
def cross_entropy():
    x = t(4, 5, grad=True)
    loss = F.cross_entropy(x, t(4, dtype=torch.int64))
    loss.backward()
    return [loss, x.grad]


@program
def attention():
    q, k, v = t(2, 4, 8), t(2, 4, 8, seed=1), t(2, 4, 8, seed=2)
    mask = torch.tril(torch.ones(4, 4)).bool().to(q.device)
    s = (q @ k.transpose(1, 2) / 8 ** 0.5).masked_fill(~mask, float("-inf"))
    return [s.softmax(-1) @ v]


@program
def dot_batched_bf16():
    return [torch.bmm(t(3, 4, 5, dtype=torch.bfloat16), t(3, 5, 2, dtype=torch.bfloat16))]


@program
def einsum():
    return [torch.einsum("bij,bkj->bik", t(2, 3, 4), t(2, 5, 4))]


@program
def gather_scatter():
    i = torch.tensor([[0, 1], [2, 0]]).to(xm.xla_device())
    x = t(3, 4)
    return [x.gather(0, i), x.scatter(0, i, t(2, 2)), x.scatter_add(0, i, t(2, 2))]


@program
def index_put():
    x = t(5, 3)
    return [x.index_put((torch.tensor([0, 2]).to(x.device),), t(2, 3), accumulate=True), x[[1, 3]]]


@program
def slices():
    x = t(8, 9)
    return [x[2:6, ::3], x[:, -2:], x.flip(0), x.roll(2, 1), x.narrow(0, 1, 3)]


@program
def pads():
    x = t(3, 4)
    return [F.pad(x, (1, 2)), F.pad(x, (1, 0, 0, 2), value=3.5), F.pad(x, (-1, 1))]


@program
def shapes():
    x = t(2, 3, 4)
    return [x.permute(2, 0, 1), x.reshape(6, 4), x.unsqueeze(1).expand(2, 5, 3, 4),
            torch.cat([x, x], 1), torch.stack([x, x]), x.transpose(0, 2)]


@program
def sort_topk():
    x = t(3, 7)
    return [*torch.sort(x, 1), *torch.topk(x, 3), torch.argsort(x, 0, descending=True)]


@program
def where_clamp():
    x = t(3, 4)
    return [torch.where(x > 0, x, -x), x.clamp(-1, 0.5)]


@program
def constants():
    d = xm.xla_device()
    return [torch.tensor([1.5, -2.25, 1e-30, 3e38, float("inf"), float("-inf"), float("nan")]).to(d)
            + 0.1, torch.arange(12, device=d).reshape(3, 4) * 3, torch.full((2, 2), 7, device=d),
            torch.zeros(3, device=d), torch.linspace(0, 1, 5, device=d)]


@program
def random():
    d = xm.xla_device()
    return [torch.rand(3, device=d), torch.randn(2, 2, device=d), torch.bernoulli(t(4).sigmoid())]


@program
def dropout():
    return [F.dropout(t(4, 4), 0.3)]


@program
def complex_numbers():
    x = torch.complex(t(3, 4), t(3, 4, seed=1))
    return [x.real * x.imag, x.abs()]


@program
def linalg():
    a = t(4, 4)
    spd = a @ a.T + 4 * torch.eye(4, device=a.device)
    return [torch.linalg.cholesky(spd), torch.linalg.qr(a)[0],
            torch.triangular_solve(t(4, 2), spd)[0]]


@program
def adamw_step():
    net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
    net = net.to(xm.xla_device())
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    F.mse_loss(net(t(4, 8)), t(4, 2)).backward()
    opt.step()
    return [p for p in net.parameters()]


@program
def transformer_layer():
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
    layer = layer.to(xm.xla_device())
    y = layer(t(2, 5, 16))
    y.sum().backward()
    return [y] + [p.grad for p in layer.parameters()]


def main():
    folder, names = sys.argv[1], sys.argv[2:] or list(PROGRAMS)
    os.makedirs(folder, exist_ok=True)
    api, failed = torch_xla._XLAC, []
    for name in names:
        torch.manual_seed(0)
        try:
            tensors = PROGRAMS[name]()
            text = api._get_xla_tensors_hlo(tensors)
            proto = api._get_xla_tensors_hlo_proto(tensors)
        except Exception as error:  # a program this release can't trace is said, not hidden
            failed.append(name)
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        with open(f"{folder}/{name}.pb", "wb") as f:
            f.write(proto)
        with open(f"{folder}/{name}.txt", "w") as f:
            f.write(text)
    print(f"{len(names) - len(failed)} programs, {len(failed)} not traced: {' '.join(failed)}")


main()
