"""Row G: compiled ahead for its cost, then called by a loop that has an unused line with jax.jit."""
import jax
import jax.numpy as jnp


def advance(state, batch):
    return {"w": state["w"] - 0.1 * jax.grad(lambda w: jnp.mean((batch @ w) ** 2))(state["w"])}


def analyse(step, *example):
    compiled = step.lower(*example).compile()
    return compiled.cost_analysis() is not None


def loop(state, turns, reseed):
    step = jax.jit(advance, donate_argnums=(0,))
    batch = jnp.ones((12, 6))
    print("analysed", analyse(step, jax.tree.map(jnp.copy, state), batch))
    for turn in range(turns):
        if reseed:
            batch = jax.jit(jax.random.normal, static_argnums=1)(jax.random.key(turn), (12, 6))
        state = step(state, batch)
    return state


print(loop({"w": jnp.ones((6, 2))}, 9, False)["w"].shape)
