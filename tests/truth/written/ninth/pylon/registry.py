LOSSES = {}


def loss(name):
    def wrap(cls):
        LOSSES[name] = cls
        return cls
    return wrap


def build(spec):
    spec = dict(spec)
    return LOSSES[spec.pop("type")](**spec)
