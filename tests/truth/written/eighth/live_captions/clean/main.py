import asyncio
import itertools

import numpy as np

from recognizer import Recognizer
from server import Batcher, Session

CHUNK = 8


def microphone(seed, seconds, mels):
    rng = np.random.default_rng(seed)
    frames = rng.normal(size=(seconds, mels)).astype(np.float32)
    for at in itertools.count(0, CHUNK):
        piece = frames[at:at + CHUNK]
        if not len(piece):
            return
        yield piece


async def caller(batcher, name, joins, seconds):
    for _ in range(joins):
        await asyncio.sleep(0)
    rec = batcher.recognizer
    session = Session(name, rec.hidden)
    heard = 0
    for piece in microphone(len(name) + seconds, seconds, rec.mels):
        heard += await batcher.submit(session, piece)
    return name, heard, session.text[-4:]


CALLS = [("alice", 0, 80), ("bo", 0, 64), ("chandra", 14, 64), ("dmitri", 30, 43), ("eve", 45, 24)]


async def main():
    batcher = Batcher(Recognizer(), most=4, frames=CHUNK)
    worker = asyncio.create_task(batcher.serve())
    results = await asyncio.gather(*(caller(batcher, *c) for c in CALLS))
    worker.cancel()
    for name, heard, tail in results:
        print(f"{name:8s} frames {heard:3d} tail {tail}")
    print("launches", len(batcher.sizes), "most", max(batcher.sizes))


asyncio.run(main())
