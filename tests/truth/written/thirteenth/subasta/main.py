import numpy as np
import jax

from bidder import clear, init, quote, step_inplace, step_keeping, tx
from exchange import Exchange
from ledger import Ledger

ROTA = ["nb", "nb", "nb", "ql", "nb", "ql", "mq", "nb", "mq", "ql", "nb", "mq"]


def run(batch=64):
    params = init(jax.random.key(7))
    opt = tx.init(params)
    desks = {code: cls(seed) for seed, (code, cls) in enumerate(sorted(Exchange.registry.items()))}
    ledger = Ledger({"plain": step_inplace, "keep": step_keeping}, closing=(5, 9))
    for hour, code in enumerate(ROTA):
        desk = desks[code]
        page, lot = desk.lots(batch)
        fee = np.float32(desk.terms.get("fee", 0.0))
        advance = ledger.pick(hour, params)
        params, opt, gain = advance(params, opt, lot, fee)
        bids = quote(params, {"ctx": lot["ctx"], "value": lot["value"]})
        won, paid = clear(bids, lot["rivals"], page.slots)
        ledger.post(code, gain, won, paid)
        print(f"h{hour:02d} {code} {page.layout:8s} surplus {gain:.4f} share {won:.2f} price {paid:.3f}")
    print("total", ledger.total())
    for hour, kept in ledger.books:
        print("close", hour, round(float(np.abs(kept["v"]).sum()), 4))


if __name__ == "__main__":
    run()
