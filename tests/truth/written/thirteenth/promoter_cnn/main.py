import numpy as np

from genome import Windows
from hooks import Ledger, MotifProbe
from learner import Trainer, accuracy

windows = Windows(110, 48, seed=1)
held = Windows(64, 48, seed=2)
trainer = Trainer(windows.onehot[:2])
ledger = Ledger()
trainer.hooks.append(ledger)
trainer.hooks.append(MotifProbe(every=7))
for epoch in range(4):
    for batch in windows.epoch(24):
        trainer.feed(batch)
    acc = accuracy(trainer.variables, held.onehot, held.labels)
    print(f"epoch {epoch} loss {np.mean(ledger.losses[-5:]):.4f} acc {float(acc):.3f}")
print("motif peaks", [round(m, 2) for m in trainer.hooks[1].maps])
