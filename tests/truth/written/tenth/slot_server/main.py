from collections import deque

from engine import Engine
from protocol import arrivals


def serve(engine, queue):
    tick = 0
    while queue or any(engine.slots):
        slot = engine.free_slot()
        if queue and slot is not None:
            engine.admit(queue.popleft(), slot)
        for r in engine.step():
            yield tick, r
        tick += 1


if __name__ == "__main__":
    for tick, r in serve(Engine(), deque(arrivals())):
        print(f"t={tick:3d} {r.id}: {len(r.output)} tokens, tail {r.output[-3:]}")
