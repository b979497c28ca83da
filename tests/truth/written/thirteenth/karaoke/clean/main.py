import jax
import numpy as np

from separator import fresh_state, learn
from songs import Songbook


def main(albums=4, per_album=5):
    book = Songbook(seed=8)
    key = jax.random.key(3)
    state = fresh_state(key)
    state = state.replace(step=np.int32(0))
    for album in range(albums):
        drop = np.float32(0.4 * 0.7 ** album)
        losses = []
        for n, tr in enumerate(book.tracks(per_album)):
            state, loss = learn(state, tr["mix"], tr["voice"], tr["live"], drop, jax.random.fold_in(key, album * 100 + n))
            losses.append(float(loss))
        print(f"album {album} last {tr['title']} loss {np.mean(losses):.4f} step {int(state.step)}")


if __name__ == "__main__":
    main()
