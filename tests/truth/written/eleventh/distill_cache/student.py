import dataclasses

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Student(nn.Module):
    classes: int
    width: int = 16

    @nn.compact
    def __call__(self, x):
        h = nn.relu(nn.Dense(self.width, name="trunk")(x))
        guide = nn.Dense(40, name="guide")(h)
        return nn.Dense(self.classes, name="out")(h), guide


@dataclasses.dataclass(frozen=True)
class Objective:
    softness: float
    alpha: float = 0.7

    def __call__(self, logits, guide, batch):
        t = self.softness
        soft = optax.losses.kl_divergence(
            jax.nn.log_softmax(logits / t), jax.nn.softmax(batch["teacher"].astype(jnp.float32) / t)
        )
        hard = optax.softmax_cross_entropy_with_integer_labels(logits, batch["label"])
        loss = jnp.mean(self.alpha * t * t * soft + (1 - self.alpha) * hard)
        if "hint" in batch:
            loss = loss + 0.1 * jnp.mean((guide - batch["hint"]) ** 2)
        return loss
