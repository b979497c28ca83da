import torch
from torch import nn

from torchlet import LitModule


class TideForecaster(LitModule):
    def __init__(self, history=12, ahead=4, width=24, lr=0.05, gamma=0.6):
        super().__init__()
        self.save_hyperparameters(history=history, ahead=ahead, width=width, lr=lr, gamma=gamma, passes=1, smooth=0.1)
        self.enter = nn.Linear(history, width)
        self.refine = nn.Linear(width, width)
        self.leave = nn.Linear(width, ahead)

    def forward(self, x):
        h = torch.tanh(self.enter(x))
        for _ in range(self.hparams.passes):
            h = h + 0.5 * torch.tanh(self.refine(h))
        return self.leave(h)

    def training_step(self, batch, batch_idx):
        past, future = batch
        pred = self(past)
        loss = nn.functional.smooth_l1_loss(pred, future, beta=self.hparams.smooth)
        return {"loss": loss, "mae": (pred - future).abs().mean().detach()}

    def configure_optimizers(self):
        opt = torch.optim.SGD(self.parameters(), lr=self.hparams.lr)
        return [opt], [torch.optim.lr_scheduler.ExponentialLR(opt, self.hparams.gamma)]
