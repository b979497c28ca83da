from dataclasses import dataclass, field


@dataclass
class OptimSettings:
    peak: float = 3e-3
    decay: float = 0.6
    weight_decay: float = 1e-4

    def rate(self, epoch: int) -> float:
        return self.peak * self.decay**epoch


@dataclass
class Settings:
    alphabet: str = "ACDEFGHIKLMNPQRSTVWY"
    states: int = 3            # helix, strand, coil
    width: int = 16
    batch: int = 20
    epochs: int = 3
    max_residues: int = 96
    optim: OptimSettings = field(default_factory=OptimSettings)

    @property
    def pad_id(self) -> int:
        return len(self.alphabet)
