"""Row E: each fold makes its weights outside jit and then runs a loop of its own over a jitted step."""
import jax
import jax.numpy as jnp


def predict(weights, rows):
    return jnp.tanh(rows @ weights["first"] + weights["bend"]) @ weights["second"]


@jax.jit
def improve(weights, rows, marks):
    slopes = jax.grad(lambda w: jnp.mean((predict(w, rows) - marks) ** 2))(weights)
    return jax.tree.map(lambda w, s: w - 0.1 * s, weights, slopes)


def begin(key):
    one, two = jax.random.split(key)
    return {"first": jax.random.normal(one, (5, 9)) / 5 ** 0.5, "bend": jnp.zeros(9) + 0.1,
            "second": jax.random.normal(two, (9,)) * 0.2}


def fit(rows, marks, key):
    weights = begin(key)
    for _ in range(6):
        weights = improve(weights, rows, marks)
    return weights


table = jnp.linspace(-1, 1, 40 * 5).reshape(40, 5)
for fold in range(8):
    kept = fit(table, table.sum(1), jax.random.key(fold))
print(float(kept["bend"].sum()))
