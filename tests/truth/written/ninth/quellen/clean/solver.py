import torch


def stiffness(pos):
    return 1.0 / (1.0 + pos.square().sum(-1, keepdim=True))


@torch.compile(backend="aot_eager")
def push(pos, vel, field, dt):
    pull = -pos * stiffness(pos) + 0.1 * field.mean()
    swirl = torch.stack([-pos[:, 1], pos[:, 0]], dim=-1)
    vel = 0.98 * vel + dt * (pull + 0.3 * swirl)
    return pos + dt * vel, vel


@torch.compile(backend="aot_eager")
def relax(field, source, tol):
    up = torch.roll(field, 1, 0) + torch.roll(field, -1, 0)
    side = torch.roll(field, 1, 1) + torch.roll(field, -1, 1)
    change = 0.25 * (up + side + source) - field
    residual = change.abs().max()
    settled = field + change - change.mean()
    field = torch.where(residual > tol, field + 0.9 * change, settled)
    return field, residual


def deposit(pos, n):
    cell = ((pos.tanh() + 1) * 0.5 * (n - 1)).long()
    grid = torch.zeros(n, n)
    grid.index_put_((cell[:, 0], cell[:, 1]), torch.ones(len(pos)), accumulate=True)
    return grid / len(pos) * n
