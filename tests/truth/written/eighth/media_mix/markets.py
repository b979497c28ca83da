import numpy as np

CATALOGUE = (
    dict(code="DE", weeks=52, channels=3, promo=False),
    dict(code="FR", weeks=52, channels=3, promo=False),
    dict(code="IT", weeks=52, channels=3, promo=True),
    dict(code="PL", weeks=52, channels=3, promo=False),
)


def load_market(code, weeks, channels, promo):
    rng = np.random.default_rng(sum(map(ord, code)))
    spend = rng.gamma(2.0, 0.5, size=(weeks, channels)).astype(np.float32)
    effect = np.abs(rng.normal(0.6, 0.2, size=channels))
    frame = {"spend": spend, "season": np.sin(np.arange(weeks) / 52 * 2 * np.pi).astype(np.float32)}
    mean = 1.0 + np.log1p(spend) @ effect + 0.3 * frame["season"]
    if promo:
        frame["promo"] = (rng.random(weeks) < 0.2).astype(np.float32)
        mean = mean + 0.5 * frame["promo"]
    frame["sales"] = (mean + rng.normal(scale=0.2, size=weeks)).astype(np.float32)
    return frame


def all_markets():
    for entry in CATALOGUE:
        yield entry["code"], load_market(**entry)
