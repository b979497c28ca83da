import optax
import jax
import jax.numpy as jnp

import chem


def net(params, pos, send, recv):
    msg = jnp.tanh(jnp.concatenate([pos[send], pos[recv]], -1) @ params["edge"])
    agg = jax.ops.segment_sum(msg, recv, num_segments=12)
    return (jnp.concatenate([pos, agg], -1) @ params["node"]).sum()


tx = optax.adam(1e-3)


@jax.jit
def update(params, opt, graph):
    pos, send, recv, target = graph
    loss, g = jax.value_and_grad(lambda p: (net(p, pos, send, recv) - target) ** 2)(params)
    up, opt = tx.update(g, opt, params)
    return optax.apply_updates(params, up), opt, loss


def main():
    k1, k2 = jax.random.split(jax.random.PRNGKey(0))
    params = {"edge": 0.1 * jax.random.normal(k1, (6, 8)), "node": 0.1 * jax.random.normal(k2, (11, 1))}
    opt = tx.init(params)
    for n, graph in enumerate(chem.stream(16)):
        params, opt, loss = update(params, opt, graph)
    print("molecules", n + 1)


if __name__ == "__main__":
    main()
