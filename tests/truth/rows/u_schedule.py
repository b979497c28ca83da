"""torch.compile of an optimizer's step; a scheduler of the library lowers the rate after each pass."""
import torch


def build(layer, rate):
    tuner = torch.optim.SGD(layer.parameters(), lr=rate)
    return tuner, torch.optim.lr_scheduler.StepLR(tuner, step_size=1, gamma=0.5)


def main():
    torch.manual_seed(1)
    layer = torch.nn.Linear(5, 2)
    tuner, plan = build(layer, 0.2)

    @torch.compile(backend="eager")
    def improve():
        tuner.step()

    for turn in range(10):
        cost = layer(torch.randn(3, 5)).square().mean()
        cost.backward()
        improve()
        tuner.zero_grad()
        if turn % 2:
            plan.step()
    print(round(cost.item(), 3))


main()
