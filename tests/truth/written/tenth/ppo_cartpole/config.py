from dataclasses import dataclass


@dataclass(frozen=True)
class Args:
    seed: int = 1
    num_envs: int = 8
    num_steps: int = 24
    total_updates: int = 12
    learning_rate: float = 2.5e-3
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip_coef: float = 0.2
    ent_coef: float = 0.02
    ent_floor: float = 0.002
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    update_epochs: int = 2
    hidden: int = 32
