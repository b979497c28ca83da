"""A small training step with one knob for each way a program may drift."""
import jax
import jax.numpy as jnp


def block(h, w, b):
    h = h @ w
    h = h + b
    return jnp.tanh(h)


def loss(params, batch, k):
    h = batch["x"][..., k["start"]:k["start"] + 8]
    for w, b in params:
        h = block(h, w, b)
    for _ in range(k["reps"]):
        h = h * jax.nn.sigmoid(h)
    h = h / k["temperature"]
    if k["branch"]:
        h = h + jnp.cos(h)
    if "mask" in batch:
        h = h * batch["mask"]
    return jnp.mean((h - batch["y"]) ** 2)


def lower(**changed):
    k = dict(lr=1e-3, start=2, temperature=0.7, reps=3, branch=False, mask=False, layers=2,
             batch=4, lead=(), dtype="float32", donate=(), shardings=None)
    k.update(changed)

    def step(params, batch):
        value, grads = jax.value_and_grad(loss)(params, batch, k)
        return jax.tree.map(lambda p, g: p - k["lr"] * g, params, grads), value

    def array(*shape):
        return jax.ShapeDtypeStruct(shape, k["dtype"])

    lead = k["lead"] + (k["batch"],)
    params = [(array(8, 8), array(8)) for _ in range(k["layers"])]
    batch = {"x": array(*lead, 16), "y": array(*lead, 8)}
    if k["mask"]:
        batch["mask"] = array(*lead, 8)
    more = {"in_shardings": k["shardings"]} if k["shardings"] else {}
    return jax.jit(step, donate_argnums=k["donate"], **more).lower(params, batch)
