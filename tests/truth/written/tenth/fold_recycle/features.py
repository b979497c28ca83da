import numpy as np

AA = 21
CROP = 20


def synth_protein(rng):
    n = int(rng.integers(11, CROP + 1))
    steps = rng.normal(0, 1, (n, 3))
    steps /= np.linalg.norm(steps, axis=1, keepdims=True)
    return {"aatype": rng.integers(0, AA, n), "ca": np.cumsum(3.8 * steps, 0), "hits": int(rng.integers(0, 5))}


def pad_to(x, size):
    out = np.zeros((size,) + x.shape[1:], x.dtype)
    out[: len(x)] = x
    return out


def make_sequence_features(p):
    return {
        "aatype": pad_to(p["aatype"].astype(np.int32), CROP),
        "mask": pad_to(np.ones(len(p["ca"]), np.float32), CROP),
    }


def make_label_features(p):
    return {"ca": pad_to(p["ca"].astype(np.float32), CROP)}


def make_template_features(p, rng, max_evalue_hits=1):
    if p["hits"] < max_evalue_hits:
        return {}
    noisy = p["ca"] + rng.normal(0, 2.0 / p["hits"], p["ca"].shape)
    d = np.linalg.norm(noisy[:, None] - noisy[None], axis=-1).astype(np.float32)
    full = np.zeros((CROP, CROP), np.float32)
    full[: len(d), : len(d)] = d
    return {"template_dist": full}


PIPELINE = (
    lambda p, rng: make_sequence_features(p),
    lambda p, rng: make_label_features(p),
    make_template_features,
)


def process(p, rng):
    feats = {}
    for stage in PIPELINE:
        feats.update(stage(p, rng))
    return feats
