import os
import random
from dataclasses import dataclass, field
from typing import Any, List

os.environ.setdefault("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")

import torch
from torch.utils.data import DataLoader, Dataset

from configuration_kvasir import KvasirConfig
from modeling_kvasir import KvasirForSequenceClassification
from tokenization_kvasir import KvasirTokenizer


@dataclass
class TrainingArguments:
    per_device_train_batch_size: int = 4
    learning_rate: float = 5e-2
    max_steps: int = 12
    logging_steps: int = 3
    seed: int = 11
    callbacks: List[Any] = field(default_factory=list)


class ReportDataset(Dataset):
    words = "fjord glacier basalt ember harbour thicket meridian cobalt".split()

    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.rows = []
        for i in range(n):
            text = " ".join(rng.choices(self.words, k=1 if i % 16 < 12 else 4))
            row = {"text": text, "label": len(text) % 3}
            if 20 <= i < 24 or i >= 42:
                row["text_pair"] = rng.choice(self.words)
            self.rows.append(row)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


@dataclass
class DataCollatorForReports:
    tokenizer: KvasirTokenizer
    max_length: int

    def __call__(self, rows):
        features = [self.tokenizer(r["text"], r.get("text_pair")) for r in rows]
        batch = self.tokenizer.pad(features, self.max_length)
        batch["labels"] = torch.tensor([r["label"] for r in rows])
        return batch


class PrinterCallback:
    def on_log(self, state, logs):
        print(f"step {state['global_step']:2d} " + " ".join(f"{k}={v:.4f}" for k, v in logs.items()))


class Trainer:
    def __init__(self, model, args, train_dataset, data_collator):
        self.model, self.args = model, args
        self.forward = torch.compile(model)
        self.loader = DataLoader(train_dataset, batch_size=args.per_device_train_batch_size, collate_fn=data_collator)
        self.optimizer = torch.optim.SGD(model.parameters(), lr=args.learning_rate)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda s: 1.0 - s / (args.max_steps + 1))
        self.state = {"global_step": 0}

    def training_step(self, inputs):
        out = self.forward(**inputs)
        out.loss.backward()
        self.optimizer.step()
        self.scheduler.step()
        self.optimizer.zero_grad()
        return out.loss.detach()

    def train(self):
        window = []
        for inputs in self.loader:
            window.append(self.training_step(inputs))
            self.state["global_step"] += 1
            if self.state["global_step"] % self.args.logging_steps == 0:
                logs = {"loss": torch.stack(window).mean().item(), "lr": self.scheduler.get_last_lr()[0]}
                for cb in self.args.callbacks:
                    cb.on_log(self.state, logs)
                window = []
            if self.state["global_step"] >= self.args.max_steps:
                break


def main():
    args = TrainingArguments(callbacks=[PrinterCallback()])
    torch.manual_seed(args.seed)
    config = KvasirConfig()
    tokenizer = KvasirTokenizer(config)
    model = KvasirForSequenceClassification(config)
    collator = DataCollatorForReports(tokenizer, config.max_position_embeddings)
    trainer = Trainer(model, args, ReportDataset(48, args.seed), collator)
    trainer.train()


if __name__ == "__main__":
    main()
