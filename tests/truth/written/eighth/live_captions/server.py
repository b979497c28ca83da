import asyncio

import numpy as np


class Session:
    def __init__(self, name, hidden):
        self.name = name
        self.carry = np.zeros(hidden, np.float32)
        self.text = []


class Batcher:
    """Collects the chunks that wait and runs them together."""

    def __init__(self, recognizer, most):
        self.recognizer = recognizer
        self.most = most
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
            jobs = self.drain(first)
            by_len = {}
            for job in jobs:
                by_len.setdefault(len(job[1]), []).append(job)
            for same in by_len.values():
                self.execute(same)

    def execute(self, jobs):
        carry = np.stack([s.carry for s, _, _ in jobs])
        feats = np.stack([c for _, c, _ in jobs])
        carry, symbols = self.recognizer(carry, feats)
        self.sizes.append(len(jobs))
        for row, (session, chunk, fut) in enumerate(jobs):
            session.carry = carry[row]
            session.text.extend(symbols[row, : len(chunk)].tolist())
            fut.set_result(len(chunk))
