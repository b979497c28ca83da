from typing import NamedTuple, Optional

import torch
from torch import nn


class SequenceClassifierOutput(NamedTuple):
    loss: Optional[torch.Tensor]
    logits: torch.Tensor


class KvasirEmbeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, config.hidden_size)
        self.register_buffer("position_ids", torch.arange(config.max_position_embeddings), persistent=False)

    def forward(self, input_ids, token_type_ids=None):
        h = self.word_embeddings(input_ids) + self.position_embeddings(self.position_ids)
        if token_type_ids is not None:
            h = h + self.token_type_embeddings(token_type_ids)
        return h


class KvasirForSequenceClassification(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embeddings = KvasirEmbeddings(config)
        self.query = nn.Linear(config.hidden_size, 1)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=self.config.initializer_range)

    def forward(self, input_ids=None, attention_mask=None, token_type_ids=None, labels=None):
        h = self.embeddings(input_ids, token_type_ids)
        keep = attention_mask.to(h.dtype)
        score = self.query(torch.tanh(h)).squeeze(-1) + (1.0 - keep) * -1e4
        pooled = (score.softmax(-1).unsqueeze(-1) * h).sum(1)
        logits = self.classifier(pooled)
        loss = None if labels is None else nn.functional.cross_entropy(logits, labels)
        return SequenceClassifierOutput(loss, logits)
