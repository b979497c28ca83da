import jax
import numpy as np

from controller import act, net, reinforce, tx
from elevator import HISTORY, Building, Tape


def episode(building, params, opt_state, key, baseline):
    building.reset()
    tape = Tape()
    total = 0.0
    for t in range(10):
        floor, frame = building.call()
        tape.push(frame)
        frames = tape.view()
        car, _ = act(params, jax.random.fold_in(key, t), frames)
        car = int(car)                       # the simulator lives on the host
        reward = building.dispatch(car, floor)
        baseline = 0.95 * baseline + 0.05 * reward
        params, opt_state = reinforce(params, opt_state, frames, car, reward - baseline, 0.01)
        total += reward
    return params, opt_state, baseline, total


def main(episodes=5):
    blank = [np.zeros(4, np.float32)] * HISTORY
    params = jax.jit(net.init)(jax.random.PRNGKey(0), blank)
    opt_state = jax.jit(tx.init)(params)
    building, baseline = Building(6), 0.0
    for e in range(episodes):
        params, opt_state, baseline, total = episode(
            building, params, opt_state, jax.random.PRNGKey(100 + e), baseline)
        print(f"episode {e} reward {total:.2f} baseline {baseline:.3f}")


if __name__ == "__main__":
    main()
