import jax
import jax.numpy as jnp
import numpy as np

DT = 0.1
F = np.eye(4, dtype="f4") + DT * np.eye(4, k=2, dtype="f4")
Q = 0.02 * np.eye(4, dtype="f4")
H = np.eye(2, 4, dtype="f4")
R = 0.05 * np.eye(2, dtype="f4")


def inv2(S):
    det = S[0, 0] * S[1, 1] - S[0, 1] * S[1, 0]
    return jnp.array([[S[1, 1], -S[0, 1]], [-S[1, 0], S[0, 0]]]) / det


@jax.jit
def propagate(mean, cov, ticks):
    def tick(_, mc):
        mean, cov = mc
        return mean @ F.T, F @ cov @ F.T + Q

    return jax.lax.fori_loop(0, ticks, tick, (mean, cov))


@jax.jit
def correct(mean, cov, det):
    """PDA-like soft update: every track sees every detection, weighted."""

    def one(m, P):
        S = H @ P @ H.T + R
        Si = inv2(S)
        K = P @ H.T @ Si
        innov = det - H @ m
        d2 = jnp.einsum("ni,ij,nj->n", innov, Si, innov)
        w = jnp.exp(-0.5 * jnp.minimum(d2, 60.0))
        w = w / (w.sum() + 1e-3)
        m2 = m + K @ (w @ innov)
        P2 = P - w.sum() * (K @ S @ K.T)
        return m2, P2

    return jax.vmap(one)(mean, cov)


class GateMixin:
    gate = 0.35

    def accept(self, det, score):
        ok = score > self.gate
        return np.where(ok[:, None], det, np.float32(1e3))


class HistoryMixin:
    def remember(self):
        self.history.append(np.asarray(self.mean))


class Tracker(GateMixin, HistoryMixin):
    def __init__(self, start):
        n = len(start)
        self.mean = jnp.asarray(np.c_[start, np.zeros((n, 2))], jnp.float32)
        self.cov = jnp.asarray(np.tile(np.eye(4), (n, 1, 1)), jnp.float32)
        self.history = []

    def __call__(self, frame):
        ticks, det, score = frame
        self.mean, self.cov = propagate(self.mean, self.cov, ticks)
        self.mean, self.cov = correct(self.mean, self.cov, self.accept(det, score))
        self.remember()
        return self
