import torch
from torch import nn

from callbacks import DriftProbe, LossLog
from data import DataConfig, ReefClips, loader
from net import ClipNet


class Trainer:
    def __init__(self, net, lr, callbacks):
        self.net = torch.compile(net, backend="aot_eager")
        self.opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)
        self.loss_fn = nn.CrossEntropyLoss()
        self.callbacks = callbacks
        self.step = 0

    def fit(self, batches, epochs):
        self.net.train()
        for epoch in range(epochs):
            total, seen = torch.zeros(()), 0
            for waves, labels in batches:
                self.opt.zero_grad()
                loss = self.loss_fn(self.net(waves), labels)
                loss.backward()
                self.opt.step()
                self.step += 1
                total += loss.detach() * len(labels)
                seen += len(labels)
                for cb in self.callbacks:
                    cb.after_step(self, loss)
            # plain SGD: the rate only ever touches eager code
            for group in self.opt.param_groups:
                group["lr"] *= 0.7
            print(f"epoch {epoch}: loss {float(total) / seen:.4f}")


def main():
    torch.manual_seed(0)
    cfg = DataConfig()
    batches = loader(cfg)
    net = ClipNet(len(ReefClips.CLASSES))
    ref = torch.sin(torch.linspace(0, 60, cfg.n_samples)).repeat(cfg.batch_size, 1)
    callbacks = [LossLog(every=2), DriftProbe(every=3, reference=ref)]
    trainer = Trainer(net, lr=0.05, callbacks=callbacks)
    trainer.fit(batches, epochs=3)
    print("probe points:", len(callbacks[1].trace))


if __name__ == "__main__":
    main()
