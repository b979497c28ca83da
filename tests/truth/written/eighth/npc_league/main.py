import jax
import numpy as np

from bus import Blackboard, Bus
from duel import learn, new_brain, opt, simulate

bus = Bus()
board = Blackboard(quality=2, wins=0, frame=0, roster=[])


@bus.on("promoted")
def enroll(brain):
    board.roster = board.roster + [jax.device_get(brain)]


@bus.on("promoted")
def fanfare(brain):
    print(f"frame {board.frame}: roster {len(board.roster)}")


@bus.on("bodies_fast")
def sharpen(speed):
    wanted = 1 + int(speed * 2.0)
    if wanted > board.quality:
        board.quality = wanted


class World:
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.rng = rng
        self.pos = rng.normal(size=(n, 3)).astype(np.float32) * 0.2
        self.vel = np.zeros((n, 3), np.float32)

    def kick(self, strength):
        self.vel = self.vel + self.rng.normal(size=self.vel.shape).astype(np.float32) * strength

    def advance(self):
        self.pos, self.vel = map(np.asarray, simulate(self.pos, self.vel, board.quality))
        top = float(np.abs(self.vel).max())
        if top > 1.0:
            bus.emit("bodies_fast", speed=top)

    def spawn(self, n):
        return self.rng.normal(size=(n, 2, 4)).astype(np.float32) * 0.5


def game_loop(frames):
    key = jax.random.key(7)
    brain = new_brain(key)
    opt_state = opt.init(brain)
    world = World(40, seed=2)
    bus.emit("promoted", brain=brain)
    score = 0.0
    while board.frame < frames:
        if board.frame % 9 == 4:
            world.kick(0.5)
        world.advance()
        brain, opt_state, value = learn(brain, opt_state, tuple(board.roster), world.spawn(16))
        score = 0.8 * score + 0.2 * float(value)
        if board.frame % 8 == 7 and len(board.roster) < 4:
            bus.emit("promoted", brain=brain)
        board.frame += 1
    return score


if __name__ == "__main__":
    print("score %.4f" % game_loop(32))
    print({t: bus.history.count(t) for t in sorted(set(bus.history))})
