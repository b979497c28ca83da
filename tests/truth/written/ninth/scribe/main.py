import torch

from jobs import read_queue
from model import Scribe


def shortlist(logits, noise, n):
    top = logits.topk(n, dim=-1)
    choice = (top.values + noise[:, :n]).argmax(-1, keepdim=True)
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
        text = torch.tensor([job.prompt], device=self.device)
        for _ in range(job.options.length):
            logits = self.next_logits(text)
            token = self.pick(logits, self.noise(), job.options.shortlist)
            text = torch.cat([text, token], dim=1)
            yield token.item()


def main():
    torch.manual_seed(30)
    writer = Writer()
    for job in read_queue():
        tokens = list(writer.stream(job))
        print(job.id, job.prompt, "->", tokens)


if __name__ == "__main__":
    main()
