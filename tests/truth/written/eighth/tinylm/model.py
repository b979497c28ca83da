import jax
import jax.numpy as jnp


def init(key, cfg):
    k_emb, k_out, *k_layers = jax.random.split(key, 2 + cfg.layers)
    d = cfg.dim
    return {
        "emb": jax.random.normal(k_emb, (cfg.vocab, d)) * 0.1,
        "out": jax.random.normal(k_out, (d, cfg.vocab)) * d ** -0.5,
        "blocks": [
            {
                "qkv": jax.random.normal(k, (d, 3 * d)) * d ** -0.5,
                "mlp": jax.random.normal(jax.random.fold_in(k, 1), (d, d)) * d ** -0.5,
            }
            for k in k_layers
        ],
    }


def forward(params, tokens):
    x = params["emb"][tokens]
    n = tokens.shape[-1]
    causal = jnp.tril(jnp.ones((n, n), bool))
    for blk in params["blocks"]:
        q, k, v = jnp.split(x @ blk["qkv"], 3, axis=-1)
        att = jnp.einsum("bqd,bkd->bqk", q, k) / q.shape[-1] ** 0.5
        att = jax.nn.softmax(jnp.where(causal, att, -1e9))
        x = x + att @ v
        x = x + jax.nn.gelu(x @ blk["mlp"])
    return x @ params["out"]


def xent(params, tokens):
    logp = jax.nn.log_softmax(forward(params, tokens[:, :-1]))
    return -jnp.mean(jnp.take_along_axis(logp, tokens[:, 1:, None], axis=-1))
