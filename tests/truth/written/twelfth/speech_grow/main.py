import jax
import numpy as np

from audio import Clips, Gain, Stretch
from loop import Loop, Reporter
from net import Spotter


def main():
    net = Spotter()
    params = jax.jit(net.init)(jax.random.PRNGKey(0), np.zeros((1, 20, 6), np.float32))["params"]
    clips = Stretch(Clips(batch=8), p=0.15)
    loop = Loop(net, params, Reporter(every=5))
    loop.run(Gain(clips), 14)
    print("examples", loop.examples)


if __name__ == "__main__":
    main()
