"""Row G: the step is lowered and compiled ahead for its cost, then called in the loop."""
import jax
import jax.numpy as jnp


def learn(state, batch, key):
    noise = jax.random.normal(key, batch.shape)
    slope = jax.grad(lambda w: jnp.mean(((batch + noise) @ w) ** 2))(state["w"])
    return {"w": state["w"] - 0.1 * slope, "n": state["n"] + 1}


def start(shape):
    return {"w": jnp.ones(shape), "n": jnp.zeros((), jnp.int32)}


def main():
    state = start((8, 3))
    batch = jnp.ones((16, 8))
    key = jax.random.key(0)
    step = jax.jit(learn, donate_argnums=0)
    plan = step.lower(state, batch, key).compile()
    print("planned", plan.memory_analysis() is not None)
    for turn in range(10):
        fold = jax.jit(jax.random.fold_in) if turn < 0 else jax.random.fold_in
        key = fold(key, turn)
        state = step(state, batch, key)
    print(int(state["n"]))


main()
