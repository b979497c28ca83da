import torch
from torch import nn

from torchlet import LitModule


class TideForecaster(LitModule):
    def __init__(self, history=12, ahead=4, width=24, lr=0.05, gamma=0.6):
        super().__init__()
        self.save_hyperparameters(history=history, ahead=ahead, width=width, lr=lr, gamma=gamma, passes=1, smooth=0.1, most_passes=3)
        self.register_buffer("pass_shares", torch.zeros(self.hparams.most_passes))
        self.set_passes(self.hparams.passes)
        self.enter = nn.Linear(history, width)
        self.refine = nn.Linear(width, width)
        self.leave = nn.Linear(width, ahead)

    def set_passes(self, n):
        self.hparams.update(passes=n)
        self.pass_shares.copy_(0.5 * (torch.arange(len(self.pass_shares)) < n))

    def forward(self, x):
        h = torch.tanh(self.enter(x))
        for share in self.pass_shares:
            h = h + share * torch.tanh(self.refine(h))
        return self.leave(h)

    def training_step(self, batch, batch_idx):
        past, future = batch
        pred = self(past)
        loss = nn.functional.smooth_l1_loss(pred, future, beta=self.hparams.smooth)
        return {"loss": loss, "mae": (pred - future).abs().mean().detach()}

    def configure_optimizers(self):
        opt = torch.optim.SGD(self.parameters(), lr=torch.tensor(self.hparams.lr))
        return [opt], [torch.optim.lr_scheduler.ExponentialLR(opt, self.hparams.gamma)]
