import jax
import numpy as np

from clients import CLASSES, DIM, init, make_federation
from server import FedOptServer, accuracy


def sample_cohort(rng, clients, k):
    picked = [clients[i] for i in rng.choice(len(clients), k, replace=False)]
    return [c for c in picked if rng.random() < c.reliability] or picked[:1]


def run(rounds=10, n_clients=10, cohort=5, seed=5):
    clients, centers = make_federation(n_clients, seed)
    rng = np.random.default_rng(seed + 1)
    y_test = rng.integers(0, CLASSES, 64).astype(np.int32)
    x_test = (centers[y_test] + rng.normal(0, 1, (64, DIM))).astype(np.float32)
    server = FedOptServer(init(jax.random.PRNGKey(seed)))
    for rnd in range(rounds):
        cfg = server.round_config(rnd)
        replies = [c.fit(server.params, cfg) for c in sample_cohort(rng, clients, cohort)]
        server.aggregate(replies)
        acc = float(accuracy(server.params, x_test, y_test))
        print(f"round {rnd} clients {len(replies)} loss {np.mean([r['loss'] for r in replies]):.3f} div {server.divergence:.3f} acc {acc:.3f}")


if __name__ == "__main__":
    run()
