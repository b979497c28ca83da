import torch
import torch_xla

from observe import energies, overlap, tail_mean

REPLICAS, SITES, ROUNDS = 10, 12, 9


def cooling_plan(rounds):
    """Every round takes the same number of sweeps."""
    for round_no in range(rounds):
        sweeps = 3
        yield round_no, sweeps, 1.0 / (2.0 - 0.15 * round_no)


class Glass:
    def __init__(self, device, seed=19):
        gen = torch.Generator().manual_seed(seed)
        bonds = torch.randn(SITES, SITES, generator=gen) / SITES**0.5
        bonds = (bonds + bonds.t()) / 2
        bonds.fill_diagonal_(0)
        self.gen = gen
        self.device = device
        self.bonds = bonds.to(device)
        self.spins = (torch.randint(0, 2, (REPLICAS, SITES), generator=gen) * 2.0 - 1).to(device)
        self.even = (torch.arange(SITES) % 2 == 0).float().to(device)

    def noise(self):
        return torch.rand(2, REPLICAS, SITES, generator=self.gen).to(self.device)

    def half(self, spins, parity, beta, u):
        gain = 2.0 * spins * (spins @ self.bonds)
        flip = (u < torch.exp(-beta * gain)).float() * parity
        return spins * (1.0 - 2.0 * flip)

    def sweep(self, spins, beta, u):
        spins = self.half(spins, self.even, beta, u[0])
        return self.half(spins, 1.0 - self.even, beta, u[1])

    def sweep_many(self, sweeps, beta):
        spins = self.spins
        for _ in range(sweeps):
            spins = self.sweep(spins, beta, self.noise())
        self.spins = spins


class Run:
    def __init__(self, device):
        self.device = device
        self.glass = Glass(device)
        self.rows = []
        self.best = torch.zeros((), device=device)

    def round(self, sweeps, beta):
        # the inverse temperature travels as a tensor
        self.glass.sweep_many(sweeps, torch.tensor([beta]).to(self.device))
        torch_xla.sync()

    def measure(self):
        energy = energies(self.glass.spins, self.glass.bonds)
        self.best = torch.minimum(self.best, energy.min())
        row = (tail_mean(energy, 0.0), overlap(self.glass.spins))
        torch_xla.sync()
        return row

    def run(self):
        for round_no, sweeps, beta in cooling_plan(ROUNDS):
            self.round(sweeps, beta)
            self.rows.append(self.measure())


def main():
    run = Run(torch_xla.device())
    torch_xla.sync()
    run.run()
    for i, (tail, q) in enumerate(run.rows):
        print(f"round {i}: hot tail {tail.item():+.3f}  overlap {q.item():.3f}")
    print("best energy", round(run.best.item(), 3))


if __name__ == "__main__":
    main()
