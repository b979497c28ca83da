import numpy as np

from client import VOCAB, Phone, Tablet
from server import Server


def write_phrases(rng, n):
    first = rng.integers(0, VOCAB, size=n)
    follow = (first * 3 + 1 + (rng.random(n) < 0.1)) % VOCAB
    return np.stack([first, follow], axis=1).astype(np.int32)


def build_fleet(rng, total):
    for ident in range(total):
        kind = Tablet if ident % 4 == 3 else Phone
        yield kind(ident, write_phrases(rng, int(rng.integers(34, 70))))


def main():
    rng = np.random.default_rng(99)
    weights = {
        "emb": rng.normal(scale=0.5, size=(VOCAB, 12)).astype(np.float32),
        "out": rng.normal(scale=0.3, size=(12, VOCAB)).astype(np.float32),
    }
    server = Server(weights, list(build_fleet(rng, 12)), cohort=5, seed=4)
    for _ in range(10):
        loss, heard = server.play()
        print(f"round {server.round:2d} loss {loss:.4f} replies {heard}")


if __name__ == "__main__":
    main()
