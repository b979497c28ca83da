DEFAULTS = {"threshold": 0.45, "min_separation": 3, "symmetrise": True}


class Settings:
    """Attribute view of a settings dict, with overrides from the caller."""

    def __init__(self, **kw):
        for k, v in {**DEFAULTS, **kw}.items():
            setattr(self, k, v)

    @classmethod
    def load(cls, section="eval"):
        overrides = {"eval": {"threshold": 0.5}, "train": {}}
        return cls(**overrides[section])

    def __repr__(self):
        return "Settings(%s)" % ", ".join(f"{k}={v!r}" for k, v in vars(self).items())
