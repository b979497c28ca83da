# Bibliothek synthetischer Liganden und eine Bindetasche
import numpy as np

MAX_ATOME = 24


def baue_tasche(rng, n=60):
    richtung = rng.normal(size=(n, 3))
    richtung /= np.linalg.norm(richtung, axis=1, keepdims=True)
    return {
        "xyz": (8.0 * richtung).astype(np.float32),
        "ladung": rng.choice([-0.4, 0.0, 0.4], size=n).astype(np.float32),
    }


def baue_ligand(nummer, rng):
    """Quelle A (Vendor) liefert Partialladungen, Quelle B (alte SDF-Dateien) nicht."""
    n = int(rng.integers(9, MAX_ATOME + 1))
    xyz = np.zeros((MAX_ATOME, 3), np.float32)
    xyz[:n] = np.cumsum(rng.normal(scale=0.8, size=(n, 3)), axis=0)
    xyz[:n] -= xyz[:n].mean(0)
    maske = (np.arange(MAX_ATOME) < n).astype(np.float32)
    ligand = {"xyz": xyz, "maske": maske}
    if nummer % 3 != 1:
        ladung = rng.normal(scale=0.3, size=MAX_ATOME).astype(np.float32)
        ligand["ladung"] = ladung * maske
    return ligand


def bibliothek(anzahl, saat):
    rng = np.random.default_rng(saat)
    for nummer in range(anzahl):
        yield f"LIG{nummer:04d}", baue_ligand(nummer, rng)
