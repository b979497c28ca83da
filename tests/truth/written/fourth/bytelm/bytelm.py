import contextlib, time
import torch, torch_xla
import torch.nn as nn
import torch.nn.functional as F

CONF = {
    "model": {"vocab": 64, "d": 24, "ctx": 16, "layers": 2},
    "optim": {"name": "radam", "lr": 3e-3, "weight_decay": 0.01},
    "loop": {"updates": 24, "micro": 2, "bs": 4, "preview_every": 12},
}

OPTIMIZERS = {
    "sgd": lambda ps, lr, weight_decay: torch.optim.SGD(ps, lr=lr, weight_decay=weight_decay),
    "radam": lambda ps, lr, weight_decay: torch.optim.RAdam(ps, lr=lr, weight_decay=weight_decay),
}


@contextlib.contextmanager
def stopwatch(book, name):
    t = time.perf_counter()
    try:
        yield
    finally:
        book[name] = book.get(name, 0.0) + time.perf_counter() - t


class Mixer(nn.Module):
    def __init__(self, d, ctx):
        super().__init__()
        self.tok = nn.Parameter(torch.tril(torch.ones(ctx, ctx)) / ctx)
        self.register_buffer("tri", torch.tril(torch.ones(ctx, ctx)))
        self.ch = nn.Linear(d, d)

    def forward(self, x):
        return x + torch.tanh(self.ch((self.tok * self.tri) @ x))


class ByteLM(nn.Module):
    def __init__(self, vocab, d, ctx, layers):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.body = nn.Sequential(*[Mixer(d, ctx) for _ in range(layers)])
        self.out = nn.Linear(d, vocab)

    def forward(self, ids):
        return self.out(self.body(self.emb(ids)))


def text_stream(vocab, ctx, bs, seed=0):
    g = torch.Generator().manual_seed(seed)
    while True:
        start = torch.randint(0, vocab, (bs, 1), generator=g)
        hop = torch.randint(1, 4, (bs, 1), generator=g)
        yield (start + hop * torch.arange(ctx + 1)) % vocab


class Run:
    def __init__(self, conf):
        torch.manual_seed(0)
        self.c, self.dev, self.clock = conf, torch_xla.device(), {}
        self.lm = ByteLM(**conf["model"]).to(self.dev)
        o = dict(conf["optim"])
        self.opt = OPTIMIZERS[o.pop("name")](self.lm.parameters(), **o)
        m = conf["model"]
        self.stream = text_stream(m["vocab"], m["ctx"], conf["loop"]["bs"])
        self.previews = []

    def micro(self):
        ids = next(self.stream).to(self.dev)
        logits = self.lm(ids[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten()) / self.c["loop"]["micro"]
        loss.backward()
        return loss

    def update(self):
        total = sum(self.micro() for _ in range(self.c["loop"]["micro"]))
        self.opt.step()
        self.opt.zero_grad(set_to_none=False)
        torch_xla.sync()
        return total

    def preview(self):
        # free what we can before sampling
        self.lm.zero_grad()
        ids = torch.arange(self.c["model"]["ctx"], device=self.dev)[None]
        with torch.no_grad():
            nxt = self.lm(ids)[:, -1].argmax(-1)
        torch_xla.sync()
        self.previews.append(int(nxt))

    def go(self):
        with stopwatch(self.clock, "warm"):
            self.preview()
        for u in range(self.c["loop"]["updates"]):
            with stopwatch(self.clock, "train"):
                loss = self.update()
            if (u + 1) % self.c["loop"]["preview_every"] == 0:
                with stopwatch(self.clock, "preview"):
                    self.preview()
        print("loss %.3f" % loss.item(), "previews", self.previews)


if __name__ == "__main__":
    Run(CONF).go()
