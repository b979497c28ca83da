import torch


def energies(spins, bonds):
    return -0.5 * torch.einsum("ri,ij,rj->r", spins, bonds, spins)


def tail_mean(energy, cut):
    """Mean energy of the replicas that are still hot; 0 when there are none."""
    hot = (energy > cut).to(energy.dtype)
    return (energy * hot).sum() / (hot.sum() + 1e-6)


def overlap(spins):
    """Edwards-Anderson overlap between neighbouring replicas."""
    return (spins[1:] * spins[:-1]).mean(-1).abs().mean()
