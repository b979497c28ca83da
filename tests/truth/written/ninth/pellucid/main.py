import torch

from knobs import Observers, SampleConfig, StepEvent, karras
from nets import TinyDenoiser


def build(net, cfg):
    weight = cfg.guidance

    def on_step(event):
        nonlocal weight
        lo, hi = cfg.interval
        weight = cfg.guidance if lo <= event.sigma <= hi else 1.0

    @torch.compile
    def denoise(x, sigma, cond):
        uncond = torch.zeros_like(cond)
        eps_c = net(x, sigma, cond)
        eps_u = net(x, sigma, uncond)
        eps = eps_u + weight * (eps_c - eps_u)
        return (x - sigma[:, None] * eps).clamp(-cfg.clip, cfg.clip)

    return denoise, on_step


def encode(prompt, dim=8):
    g = torch.Generator().manual_seed(sum(map(ord, prompt)))
    return torch.randn(dim, generator=g)


def in_lots(items, n):
    for i in range(0, len(items), n):
        yield items[i:i + n]


class Sampler:
    def __init__(self, denoise, observers, cfg):
        self.denoise = denoise
        self.observers = observers
        self.cfg = cfg
        self.calls = 0

    @torch.no_grad()
    def __call__(self, cond):
        g = torch.Generator().manual_seed(7 + self.calls)
        sigmas = karras(self.cfg)
        x = torch.randn(cond.shape[0], 24, generator=g) * sigmas[0]
        for i in range(self.cfg.steps):
            s, s_next = sigmas[i], sigmas[i + 1]
            self.observers.fire(StepEvent(i, float(s), self.cfg.steps))
            x0 = self.denoise(x, s.expand(x.shape[0]).contiguous(), cond)
            d = (x - x0) / s
            x = x + d * (s_next - s)
            self.calls += 1
        return x


def main():
    torch.manual_seed(0)
    cfg = SampleConfig()
    net = TinyDenoiser().eval()
    denoise, on_step = build(net, cfg)
    observers = Observers()
    trace = []
    observers.add(on_step)
    observers.add(lambda ev: trace.append(round(ev.sigma, 3)))
    sampler = Sampler(denoise, observers, cfg)

    prompts = [f"{a} {b}" for a in ("amber", "slate", "moss") for b in ("tower", "river", "moth")]
    done = 0
    for lot in in_lots(prompts, cfg.batch):
        cond = torch.stack([encode(p) for p in lot])
        images = sampler(cond)
        for p, img in zip(lot, images):
            print(f"{p:14s} mean={img.mean():+.4f} std={img.std():.4f}")
        done += len(lot)
    print("samples", done, "evaluations", len(trace))


if __name__ == "__main__":
    main()
