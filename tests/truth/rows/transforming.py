"""A library of transforms, for b_one_name.py: every model's function has the same name."""


def transform(build):
    def init_fn(key, *inputs):
        return build(None, key, *inputs)

    def apply_fn(weights, *inputs):
        return build(weights, None, *inputs)

    return init_fn, apply_fn
