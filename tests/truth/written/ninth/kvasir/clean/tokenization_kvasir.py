from collections import UserDict

import torch


class BatchEncoding(UserDict):
    def to(self, dtype=None):
        return self


class KvasirTokenizer:
    model_input_names = ["input_ids", "attention_mask", "token_type_ids"]

    def __init__(self, config):
        self.config = config

    def __call__(self, text, text_pair=None):
        ids = [3 + (ord(c) % 90) for c in text][: self.config.max_position_embeddings - 1]
        enc = {"input_ids": ids + [self.config.sep_token_id]}
        if text_pair is not None:
            room = self.config.max_position_embeddings - len(enc["input_ids"])
            second = [3 + (ord(c) % 90) for c in text_pair][:room]
            enc["token_type_ids"] = [0] * len(enc["input_ids"]) + [1] * len(second)
            enc["input_ids"] = enc["input_ids"] + second
        return enc

    def pad(self, features, max_length):
        pad_id = self.config.pad_token_id
        ids = [f["input_ids"] + [pad_id] * (max_length - len(f["input_ids"])) for f in features]
        out = {"input_ids": torch.tensor(ids)}
        out["attention_mask"] = out["input_ids"].ne(pad_id)
        types = [f.get("token_type_ids", []) for f in features]
        out["token_type_ids"] = torch.tensor([t + [0] * (max_length - len(t)) for t in types])
        return BatchEncoding(out)
