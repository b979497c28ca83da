import torch
import torch.nn.functional as F

from text import PairSource, Stacker
from towers import Rate, TwoTowers

DEVICE = "tpu"
SETTINGS = dict(batch=6, steps=12, lr=0.05, drop=(0.3, 0.05), settle=8)


def contrastive(sim):
    gold = torch.arange(sim.shape[0], device=sim.device)
    return 0.5 * (F.cross_entropy(sim, gold) + F.cross_entropy(sim.t(), gold))


def loop(source, stacker, model, opt, rate):
    for step in range(SETTINGS["steps"]):
        batch = stacker(source.draw(SETTINGS["batch"])).to(DEVICE)
        sim = model(batch)
        loss = contrastive(sim)
        opt.zero_grad()
        loss.backward()
        opt.step()
        rate.tick += 1
        yield step, loss.detach(), (sim.argmax(1).cpu() == torch.arange(SETTINGS["batch"])).float().mean()


def main():
    torch.manual_seed(9)
    lo_hi = SETTINGS["drop"]
    rate = Rate(*lo_hi, over=SETTINGS["settle"])
    model = TwoTowers(rate=rate).to(DEVICE)
    opt = torch.optim.SGD(model.parameters(), lr=SETTINGS["lr"])
    for step, loss, hit in loop(PairSource(), Stacker(), model, opt, rate):
        print(f"step {step:2d} loss {loss.item():.3f} hit {hit.item():.2f}")


if __name__ == "__main__":
    main()
