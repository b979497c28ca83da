import json

import numpy as np


def meter_log(n, seed=6):
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    return (np.sin(t / 3.0) + 0.1 * rng.normal(size=n)).astype(np.float32)


def encode(values, digits):
    return [json.dumps({"meter": i % 3,
                        "kw": round(float(v), digits) if digits else int(round(v))})
            for i, v in enumerate(values)]


def spool(days, per_day=6, seed=21):
    rng = np.random.default_rng(seed)
    box = {}
    for d in range(days):
        vals = rng.uniform(20, 60, per_day)
        firmware_digits = 0 if d % 7 == 5 else 2
        box[d] = encode(vals, firmware_digits)
    return box


def parse(messages):
    return np.asarray([json.loads(m)["kw"] for m in messages], np.float32)


def make_recent(days):
    box = spool(days)
    return lambda day: parse(box[day])
