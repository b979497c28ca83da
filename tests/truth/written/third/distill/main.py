# distil a random wide teacher into a narrow student
import jax
import jax.numpy as jnp
import numpy as np

from kit import *

WIDE, NARROW, D, K, TAU = 64, 8, 10, 5, 2.0


def mlp(g, *sizes):
    return jax.device_put([(g.normal(size=(a, b)).astype("f4") / np.float32(np.sqrt(a)), np.zeros(b, "f4"))
                           for a, b in zip(sizes, sizes[1:])])


def forward(p, x):
    for w, b in p[:-1]:
        x = jnp.tanh(x @ w + b)
    w, b = p[-1]
    return x @ w + b


def main():
    g = np.random.default_rng(0)
    teacher, student = mlp(g, D, WIDE, K), mlp(g, D, NARROW, K)
    soft = jax.jit(lambda p, x: jax.nn.softmax(3 * forward(p, x) / TAU))

    def kd(p, batch):
        x, t = batch
        return -(t * jax.nn.log_softmax(forward(p, x) / TAU)).sum(-1).mean() * TAU ** 2

    def batches(epoch):
        r = np.random.default_rng(epoch)
        for _ in range(8):
            x = r.normal(size=(32, D)).astype("f4")
            yield x, soft(teacher, x)

    rec = Recorder()
    tr = Trainer(student, kd, 2e-2, callbacks=[ReduceOnPlateau(min_delta=0.35), rec])
    tr.fit(batches, 7)
    print("lr %.4f -> %.4f  loss %.3f -> %.3f" % (rec.rows[0][2], rec.rows[-1][2], rec.rows[0][1], rec.rows[-1][1]))


if __name__ == "__main__":
    main()
