import itertools
import statistics

import jax

from brain import learn, net, tx
from dealer import Dealer

dealer = Dealer(seed=23)
first = dealer.deal()
params, state = jax.jit(net.init)(jax.random.key(1), first.streets)
opt = tx.init(params)
window = []
for n, hand in enumerate(itertools.chain([first], (dealer.deal() for _ in range(19)))):
    params, state, opt, loss = learn(params, state, opt, hand.streets, hand.strength)
    window.append(float(loss))
    if n % 4 == 3:
        print(f"hand {n:2d} seats {dealer.players} loss {statistics.fmean(window[-4:]):.4f}")
print("hands", int(jax.tree.leaves(state)[0]))
