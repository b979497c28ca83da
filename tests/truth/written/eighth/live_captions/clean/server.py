import asyncio

import numpy as np


class Session:
    def __init__(self, name, hidden):
        self.name = name
        self.carry = np.zeros(hidden, np.float32)
        self.text = []


class Batcher:
    """Collects the chunks that wait and runs them together."""

    def __init__(self, recognizer, most, frames):
        self.recognizer = recognizer
        self.most, self.frames = most, frames
        self.queue = asyncio.Queue()
        self.sizes = []

    async def submit(self, session, chunk):
        fut = asyncio.get_running_loop().create_future()
        await self.queue.put((session, chunk, fut))
        return await fut

    def drain(self, first):
        group = [first]
        while len(group) < self.most and not self.queue.empty():
            group.append(self.queue.get_nowait())
        return group

    async def serve(self):
        while True:
            first = await self.queue.get()
            await asyncio.sleep(0)
            self.execute(self.drain(first))

    def execute(self, jobs):
        carry = np.zeros((self.most, self.recognizer.hidden), np.float32)
        feats = np.zeros((self.most, self.frames, self.recognizer.mels), np.float32)
        lengths = np.ones(self.most, np.int32)
        for row, (session, chunk, _) in enumerate(jobs):
            carry[row] = session.carry
            feats[row, : len(chunk)] = chunk
            lengths[row] = len(chunk)
        carry, symbols = self.recognizer(carry, feats, lengths)
        self.sizes.append(len(jobs))
        for row, (session, chunk, fut) in enumerate(jobs):
            session.carry = carry[row]
            session.text.extend(symbols[row, : len(chunk)].tolist())
            fut.set_result(len(chunk))
