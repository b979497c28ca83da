import json
from dataclasses import asdict, dataclass


@dataclass
class KvasirConfig:
    vocab_size: int = 97
    hidden_size: int = 24
    num_labels: int = 3
    type_vocab_size: int = 2
    max_position_embeddings: int = 16
    pad_token_id: int = 0
    sep_token_id: int = 2
    initializer_range: float = 0.05
    problem_type: str = "single_label_classification"

    @classmethod
    def from_dict(cls, d):
        return cls(**{k: v for k, v in d.items() if k in cls.__dataclass_fields__})

    def to_json_string(self):
        return json.dumps(asdict(self), sort_keys=True)
