import torch


class Cloud:
    def __init__(self, cfg):
        self.gen = torch.Generator().manual_seed(cfg["seed"])
        n = cfg["start_particles"]
        self.pos = torch.randn(n, 2, generator=self.gen)
        self.vel = torch.zeros(n, 2)
        self.low, self.high = cfg["capacity"]

    def __len__(self):
        return self.pos.shape[0]

    def state(self):
        for t in (self.pos, self.vel):
            torch._dynamo.mark_dynamic(t, 0, min=self.low, max=self.high)
        return self.pos, self.vel

    def advance(self, pos, vel):
        self.pos, self.vel = pos, vel

    def split(self, share):
        n = max(1, int(len(self) * share))
        far = self.pos.norm(dim=1).topk(n).indices
        kick = 0.01 * torch.randn(n, 2, generator=self.gen)
        self.pos = torch.cat([self.pos, self.pos[far] + kick])
        self.vel = torch.cat([self.vel, -0.5 * self.vel[far]])
