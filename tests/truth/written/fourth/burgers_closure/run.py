#!/usr/bin/env python3
# burgers + learned closure.  quick & dirty, do not cite
import torch
import torch.nn as nn
from consts import *

class closure(nn.Module):
	def __init__(s, w=20):
		super().__init__()
		s.a = nn.Conv1d(1, w, 5, padding=2, padding_mode="circular")
		s.b = nn.Conv1d(w, 1, 5, padding=2, padding_mode="circular")
		s.walls = False
		edge = torch.ones(N); edge[:2] = 0; edge[-2:] = 0
		s.register_buffer("edge", edge)
	def forward(s, u):
		f = s.b(torch.tanh(s.a(u[:, None])))[:, 0]
		if s.walls:
			f = f * s.edge
		return f

def ddx(u):
	return (torch.roll(u, -1, 1) - torch.roll(u, 1, 1)) / (2 * DX)

def lap(u):
	return (torch.roll(u, -1, 1) - 2 * u + torch.roll(u, 1, 1)) / DX**2

net = closure()

@torch.compile(backend="eager")
def static(u):                      # one explicit step
	return u + DT * (-u * ddx(u) + NU * lap(u) + net(u))

@torch.compile(backend="eager")
def energy(u):
	return 0.5 * u.square().mean(1)

def loader(it, cache={}):
	"""initial conditions; after it 20 we look at the columns of the big table instead of drawing new ones"""
	g = torch.Generator().manual_seed(it)
	x = torch.arange(N) * DX
	if it < 20:
		k = torch.randint(1, 4, (B, 1), generator=g)
		u = torch.sin(k * x[None] + torch.rand(B, 1, generator=g))
	else:
		if "tab" not in cache:
			cache["tab"] = torch.stack([torch.sin(j * x + 0.1 * j) for j in range(1, 13)], 1)
		sel = torch.randperm(12, generator=g)[:B]
		u = cache["tab"][:, sel].T
	return u

def target(u, nu):
	return 0.999 * (u + DT * (-u * ddx(u) + nu * lap(u)))

def sweep(opt):
	global NU
	it, out = 0, []
	for nu in SWEEP:
		NU = nu
		for _ in range(14):
			if it == 35:
				net.walls = True
			u0 = loader(it)
			u1 = static(u0)
			loss = (u1 - target(u0, nu)).square().mean() + 1e-4 * energy(u1).mean()
			opt.zero_grad(); loss.backward(); opt.step()
			out.append(loss.item()); it += 1
	return out

torch.manual_seed(8)
for p in net.parameters():
	nn.init.normal_(p, std=0.05)
hist = sweep(torch.optim.Adam(net.parameters(), 1e-3))
print("loss %.2e -> %.2e" % (hist[0], hist[-1]))
