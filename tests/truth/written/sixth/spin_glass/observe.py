import torch


def energies(spins, bonds):
    return -0.5 * torch.einsum("ri,ij,rj->r", spins, bonds, spins)


def tail_mean(energy, cut):
    """Mean energy of the replicas that are still hot; 0 when there are none."""
    tail = energy[energy > cut]
    return tail.sum() / (tail.numel() + 1e-6)


def overlap(spins):
    """Edwards-Anderson overlap between neighbouring replicas."""
    return (spins[1:] * spins[:-1]).mean(-1).abs().mean()
