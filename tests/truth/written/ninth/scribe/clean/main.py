import torch

from jobs import read_queue
from model import Scribe


def shortlist(logits, noise, n):
    top = logits.topk(noise.shape[1], dim=-1)
    rank = torch.arange(noise.shape[1], device=noise.device)
    scored = (top.values + noise).masked_fill(rank >= n, -1e9)
    choice = scored.argmax(-1, keepdim=True)
    return top.indices.gather(-1, choice)


class Writer:
    def __init__(self, device="tpu"):
        self.device = device
        self.net = Scribe().to(device).eval()
        self.next_logits = torch.compile(self.net, dynamic=False)
        self.pick = torch.compile(shortlist, dynamic=False)
        self.gen = torch.Generator().manual_seed(77)

    def noise(self):
        u = torch.rand(1, 16, generator=self.gen).clamp(1e-6, 1 - 1e-6)
        return (-(-u.log()).log()).to(self.device)

    @torch.no_grad()
    def stream(self, job):
        limit = self.net.pos.shape[0]
        text = torch.tensor([job.prompt + [0] * (limit - len(job.prompt))])
        n = torch.tensor(job.options.shortlist).to(self.device)
        for at in range(len(job.prompt), len(job.prompt) + job.options.length):
            last = torch.zeros(1, limit)
            last[0, at - 1] = 1.0
            logits = self.next_logits(text.to(self.device), last.to(self.device))
            token = self.pick(logits, self.noise(), n).item()
            text[0, at] = token
            yield token


def main():
    torch.manual_seed(30)
    writer = Writer()
    for job in read_queue():
        tokens = list(writer.stream(job))
        print(job.id, job.prompt, "->", tokens)


if __name__ == "__main__":
    main()
