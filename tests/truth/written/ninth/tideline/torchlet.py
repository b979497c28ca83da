import torch


class AttributeDict(dict):
    def __getattr__(self, name):
        return self[name]


class Callback:
    def on_fit_start(self, trainer, module): pass
    def on_train_epoch_start(self, trainer, module): pass
    def on_train_batch_end(self, trainer, module, outputs, batch_idx): pass
    def on_train_epoch_end(self, trainer, module): pass


class LitModule(torch.nn.Module):
    def save_hyperparameters(self, **kw):
        self.hparams = AttributeDict(kw)

    def training_step(self, batch, batch_idx):
        raise NotImplementedError

    def configure_optimizers(self):
        raise NotImplementedError


class Trainer:
    def __init__(self, max_epochs, callbacks=(), compile_step=True):
        self.max_epochs = max_epochs
        self.callbacks = list(callbacks)
        self.compile_step = compile_step
        self.global_step = 0
        self.current_epoch = 0
        self.logged = {}

    def _emit(self, hook, module, *extra):
        for cb in self.callbacks:
            getattr(cb, hook)(self, module, *extra)

    def _wrap_optimizer(self, optimizer):
        def apply_updates():
            optimizer.step()
        return torch.compile(apply_updates) if self.compile_step else apply_updates

    def fit(self, module, loader):
        (optimizer,), (scheduler,) = module.configure_optimizers()
        apply_updates = self._wrap_optimizer(optimizer)
        step = torch.compile(module.training_step) if self.compile_step else module.training_step
        self._emit("on_fit_start", module)
        for self.current_epoch in range(self.max_epochs):
            self._emit("on_train_epoch_start", module)
            for batch_idx, batch in enumerate(loader):
                outputs = step(batch, batch_idx)
                outputs["loss"].backward()
                apply_updates()
                optimizer.zero_grad()
                self.global_step += 1
                self._emit("on_train_batch_end", module, outputs, batch_idx)
            scheduler.step()
            self._emit("on_train_epoch_end", module)
