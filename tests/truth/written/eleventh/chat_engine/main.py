import numpy as np

from engine import Engine
from rerank import Fluency

PRESETS = {
    "default": {"temperature": 1.0},
    "careful": {"temperature": 0.6, "floor": 0.01},
}


def sessions(n, seed=12):
    rng = np.random.default_rng(seed)
    for i in range(n):
        prompts = [rng.integers(1, 50, rng.integers(3, 9)).tolist() for _ in range(4)]
        yield i, prompts, "careful" if i in (5, 6) else "default"


def main():
    engine, fluency = Engine(), Fluency()
    for i, prompts, preset in sessions(9):
        replies = engine.chat(prompts, PRESETS[preset])
        score = fluency(replies, temper=1.0 - 0.05 * i)
        print(i, preset, replies[0], f"{score:.2f}")


if __name__ == "__main__":
    main()
