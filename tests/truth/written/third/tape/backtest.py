import numpy as np
import jax.numpy as jnp

from feed import Feed
from signals import LOOKBACK, signal, size

DAY = 390
EVERY = 15


def run():
	book = np.zeros(DAY, np.float32)
	feed = Feed(DAY)
	feed.start()
	pos, cash, last = jnp.float32(0), jnp.float32(1e4), None
	pnl = []
	for minute, px in feed:
		book[minute] = px
		seen = minute + 1
		if last is not None:
			pnl.append(float(pos) * (px / last - 1))
		last = px
		if seen < LOOKBACK or seen % EVERY:
			continue
		s = signal(book, seen - LOOKBACK)
		pos = size(s, pos, cash)
	pnl = np.asarray(pnl)
	print(f'pnl {pnl.sum():.2f}  sharpe {pnl.mean() / pnl.std() * np.sqrt(DAY):.2f}')


if __name__ == '__main__':
	run()
