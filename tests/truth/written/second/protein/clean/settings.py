from dataclasses import dataclass, field
import random


@dataclass
class Recycling:
    low: int = 1
    high: int = 3
    seed: int = 9
    rng: random.Random = field(init=False, repr=False)

    def __post_init__(self):
        self.rng = random.Random(self.seed)

    def draw(self):
        return self.high


@dataclass
class Settings:
    residues: int = 48
    crop: int = 16
    steps: int = 20
    recycling: Recycling = field(default_factory=Recycling)
