"""What functions under torch.compile are fed, and in which modes they are called."""
import torch
import torch.nn as nn


@torch.compile
def step(x):
    return x * 2


@torch.compile(dynamic=True)
def dynamic(x):
    return x * 2


@torch.compile
def total(xs, scale=1.0):
    return sum(xs)


def lists(x, rows):
    for count in (2, 3, 4):
        total([x for _ in range(count)])  # expect: list-length
        xs = [x * 2 for _ in range(count)]
        total(xs)  # expect: list-length
        total([torch.zeros(3) for i in range(count + 1)])  # expect: list-length
        total([x, x, x])  # clean: list-length
        total([x for _ in range(4)])  # clean: list-length
        total(torch.stack([x for _ in range(count)]))  # clean: list-length
    n = 1
    while n < 9:
        total([x for _ in range(n)])  # expect: list-length
        n += 1
    for i in range(5):
        total([x for _ in range(i)])  # expect: list-length
    total([x for _ in range(n)])  # clean: list-length
    for _ in range(3):
        total([r for r in rows])  # clean: list-length


def gradients():
    first = torch.compile(lambda x: x)
    first(torch.ones(3))
    first(torch.ones(3, requires_grad=True))  # expect: requires-grad
    first(torch.ones(3))  # clean: requires-grad
    second = torch.compile(lambda x, y: x)
    second(torch.ones(3), torch.ones(3, requires_grad=True))  # clean: requires-grad
    second(torch.ones(3, requires_grad=True), torch.ones(3))  # expect: requires-grad, requires-grad
    third = torch.compile(lambda x: x)
    third(torch.ones(3, requires_grad=True))
    third(torch.ones(3, requires_grad=True))  # clean: requires-grad
    third(torch.ones(3))  # expect: requires-grad
    third(torch.ones(3).requires_grad_())  # clean: requires-grad
    fourth = torch.compile(lambda x: x)
    fourth(torch.ones(3).requires_grad_())
    fourth(torch.ones(3))  # expect: requires-grad
    fifth = torch.compile(lambda x: x)
    fifth(torch.ones(3))
    fifth(torch.ones(3, requires_grad=False))  # clean: requires-grad


def strides():
    first = torch.compile(lambda x: x)
    first(torch.ones(3, 3))
    first(torch.ones(3, 3).t())  # expect: stride-change
    first(torch.ones(3, 3).transpose(0, 1))  # expect: stride-change
    first(torch.ones(3, 3).t().contiguous())  # clean: stride-change
    first(torch.ones(3, 3).clone())  # clean: stride-change
    second = torch.compile(lambda x: x)
    second(torch.ones(3, 3).t())
    second(torch.ones(3, 3).t())  # clean: stride-change
    second(torch.ones(3, 3))  # expect: stride-change
    third = torch.compile(lambda x, y: x)
    third(torch.ones(3, 3), torch.ones(3, 3))
    third(torch.ones(3, 3), torch.ones(3, 3).t())  # expect: stride-change
    third(torch.ones(3, 3).t(), torch.ones(3, 3))  # expect: stride-change
    fourth = torch.compile(lambda x: x)
    fourth(torch.ones(3, 3).t())  # clean: stride-change
    fifth = torch.compile(lambda x: x)
    fifth(torch.ones(3, 3))
    fifth(torch.ones(3, 3).to("cuda"))  # clean: stride-change


def modes(x):
    first = torch.compile(lambda x: x)
    first(x)
    with torch.no_grad():
        first(x)  # expect: grad-mode
    second = torch.compile(lambda x: x)
    with torch.inference_mode():
        second(x)  # clean: grad-mode
    second(x)  # expect: grad-mode
    third = torch.compile(lambda x: x)
    with torch.no_grad():
        third(x)  # clean: grad-mode
        third(x)  # clean: grad-mode
    fourth = torch.compile(lambda x: x)
    fourth(x)  # clean: grad-mode
    fourth(x)  # clean: grad-mode
    fifth = torch.compile(lambda x: x)
    for _ in range(3):
        fifth(x)
        with torch.no_grad():
            fifth(x)  # expect: grad-mode
    sixth = torch.compile(lambda x: x)
    sixth(x)
    with torch.no_grad():
        with torch.autocast("cuda"):
            sixth(x)  # expect: grad-mode
    seventh = torch.compile(lambda x: x)
    seventh(x)
    with torch.no_grad():
        y = seventh(x) + 1  # expect: grad-mode


def evaluation(model, other, x):
    step_of = torch.compile(model)
    step_of(x)
    model.eval()
    step_of(x)  # expect: eval-mode
    second = torch.compile(other)
    for _ in range(3):
        second(x)
        other.eval()
        second(x)  # expect: eval-mode
    third = torch.compile(model)
    third(x)
    third.eval()
    third(x)  # expect: eval-mode
    quiet = torch.compile(model)
    model.eval()
    quiet(x)  # clean: eval-mode
    quiet(x)  # clean: eval-mode
    trained = torch.compile(other)
    trained(x)
    model.eval()
    trained(x)  # clean: eval-mode
    last = torch.compile(model)
    last(x)
    model.train()
    last(x)  # clean: eval-mode
    before = torch.compile(model)
    before(x)  # clean: eval-mode
    model.eval()


def evaluation_again(net, x):
    net = torch.compile(net)
    net(x)
    net.eval()
    y = net(x)  # expect: eval-mode


def evaluation_late(net, x):
    fast = torch.compile(net)
    y = fast(x)
    net.eval()
    return fast(x)  # expect: eval-mode


def scale(x, factor=1.0):
    return x * factor


def plain(x, factor=1.0):
    return x * factor


compiled = torch.compile(scale)
scale.__defaults__ = (2.0,)  # expect: default-argument
scale.__defaults__ = (3.0,)  # expect: default-argument
scale.__kwdefaults__ = {"factor": 2.0}  # expect: default-argument
scale.__kwdefaults__["factor"] = 3.0  # expect: default-argument
total.__defaults__ = (3.0,)  # expect: default-argument
plain.__defaults__ = (2.0,)  # clean: default-argument
plain.__kwdefaults__ = {"factor": 2.0}  # clean: default-argument
scale.__name__ = "other"  # clean: default-argument
scale.__doc__ = "defaults"  # clean: default-argument
before = scale.__defaults__  # clean: default-argument

torch._dynamo.mark_dynamic(torch.ones(4, 3), 0)


@torch.compile
def marked(x, y, flag=4):
    if x.shape[0] == 4:  # expect: mark-dynamic
        x = x * 2
    if (y.shape[1] == 1):  # expect: mark-dynamic
        y = y * 2
    z = x if y.shape[0] == 8 else y  # expect: mark-dynamic
    assert x.shape[0] == 4  # expect: mark-dynamic
    while x.size()[0] == 3:  # expect: mark-dynamic
        x = x * 2
    if x.shape[0] > 4:  # clean: mark-dynamic
        x = x * 2
    if x.shape[0] == y.shape[0]:  # clean: mark-dynamic
        x = x * 2
    if flag == 4:  # clean: mark-dynamic
        x = x * 2
    if x.ndim == 4:  # clean: mark-dynamic
        x = x * 2
    return x + z


def unmarked(x):
    if x.shape[0] == 4:  # clean: mark-dynamic
        return x * 2
    return x


def limit(x):
    fixed = torch.compile(lambda x, n: x * n, dynamic=False)
    for n in range(12):
        fixed(x, n)  # expect: recompile-limit
    for n in range(4):
        fixed(x, n)  # expect: baked-constant
    for n in range(12):
        fixed(x, torch.tensor(n))  # clean: recompile-limit
        dynamic(torch.ones(n))  # clean: shape-drift


class Settings:
    scale = 2
    width = 3


settings = Settings()


@torch.compile
def configured(x):
    return x * settings.scale * settings.width  # expect: self-value


for settings.scale in (2, 5, 9):
    configured(torch.ones(3))


@torch.compile
def fielded(batch, config):
    y = batch["x"]
    if "mask" in batch:  # expect: optional-key
        y = y * batch["mask"]
    if "wide" in config:  # clean: optional-key
        y = y * 2
    return y


@torch.compile
def packed(x, lengths, other):
    parts = x.split(lengths)  # expect: varlen
    same = x.split(other)  # clean: varlen
    return parts, same


def packs(x):
    for lengths in ([2, 6], [3, 5]):
        packed(x, lengths, [4, 4])  # expect: baked-constant


optimizer = torch.optim.SGD([], lr=0.1)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
steady = torch.optim.SGD([], lr=torch.tensor(0.1))


@torch.compile
def update():
    optimizer.step()  # expect: optimizer-scalar
    steady.step()  # clean: optimizer-scalar


for mode in ("train", "valid"):
    step(mode)  # expect: static-argument


@torch.compile
def best(x, limit):
    k = min(limit, x.shape[-1])
    return x.topk(k)  # clean: topk-k


@torch.compile(dynamic=False)
def score(x, y=None):
    return torch.tanh(x).sum()


BATCH = 8
ROWS = 4 * BATCH + 3


def pieces(loaded):
    samples = torch.randn(4 * BATCH + 3, 16)
    labels = torch.zeros((ROWS, 1))
    for x in samples.split(BATCH):
        score(x.to("cuda"))  # expect: last-batch
    for x in torch.chunk(samples, 4):
        score(x)  # expect: last-batch
    for x, y in zip(samples.split(BATCH), labels.split(BATCH)):
        score(x, y)  # expect: last-batch
    for i, x in enumerate(torch.tensor_split(torch.ones(size=(10, 3)), 4)):
        score(x)  # expect: last-batch
        dynamic(x)  # clean: last-batch
    parts = list(samples.split(BATCH))
    for i in range(len(parts)):
        score(parts[i])  # expect: last-batch
        score(parts[0])  # clean: last-batch
    for x in parts[:-1]:
        score(x)  # clean: last-batch
    for x in torch.randn(4 * BATCH, 16).split(BATCH):
        score(x)  # clean: last-batch
    for x in samples.split(7):
        score(x)  # clean: last-batch
    for x in torch.chunk(samples, 5):
        score(x)  # clean: last-batch
    for x in samples.split(BATCH, dim=1):
        score(x)  # clean: last-batch
    for x in samples.split(64):
        score(x)  # clean: last-batch
    for x in loaded.split(BATCH):
        score(x)  # clean: last-batch
    first, second = samples.split(20)
    for _ in range(3):
        score(first)  # clean: last-batch
