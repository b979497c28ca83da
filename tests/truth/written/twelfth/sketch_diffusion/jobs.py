CASTS = {
    "label": int,
    "steps": int,
    "guidance": float,
    "n": int,
    "sampler": str,
}

SCRIPT = """
label=1 steps=4 guidance=2.0
label=2 steps=4 guidance=2.0
label=3 steps=4 guidance=3.5 sampler=ddim
label=1 steps=6 guidance=2.0
label=2 steps=5 guidance=2.0
label=1 steps=4 guidance=7.5
label=3 steps=10 guidance=2.0
label=2 steps=4 guidance=2.0 n=3
"""


def parse(line):
    out = {"sampler": "ddim+polish", "n": 4}
    for part in line.split():
        k, v = part.split("=")
        out[k] = CASTS[k](v)
    return out


def jobs():
    return [parse(l) for l in SCRIPT.splitlines() if l.strip()]
