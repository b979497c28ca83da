import sys
from types import SimpleNamespace

DEFAULTS = {
    "model.vocab": 48,
    "model.dim": 32,
    "model.layers": 2,
    "model.context": 24,
    "optim.lr": 3e-2,
    "optim.micro": 3,
    "run.steps": 16,
    "run.snapshot_every": 3,
    "run.spike": 3.0,
    "run.preview_every": 5,
    "run.preview_tokens": 6,
}


def load(argv=None):
    flat = dict(DEFAULTS)
    for item in sys.argv[1:] if argv is None else argv:
        name, _, value = item.partition("=")
        flat[name] = type(flat[name])(value)
    root = SimpleNamespace()
    for dotted, value in flat.items():
        group, leaf = dotted.split(".")
        if not hasattr(root, group):
            setattr(root, group, SimpleNamespace())
        setattr(getattr(root, group), leaf, value)
    return root
