import numpy as np

from book import Book
from events import trading_year

LOOKBACK = 16


class Market:
    def __init__(self, days, total, n_feats, seed=11):
        rng = np.random.default_rng(seed)
        span = days + LOOKBACK
        self.feats = rng.normal(size=(span, total, n_feats)).astype(np.float32)
        signal = self.feats @ rng.normal(scale=0.004, size=n_feats).astype(np.float32)
        vol = 0.01 * (1 + 0.5 * np.sin(np.arange(span) / 7.0))[:, None]
        self.all_returns = (signal + vol * rng.normal(size=(span, total))).astype(np.float32)

    @property
    def returns(self):
        return self.all_returns[LOOKBACK:]

    def window(self, day, names):
        cols = np.asarray(names)
        block = slice(day, day + LOOKBACK)
        return self.feats[block][:, cols], self.all_returns[block][:, cols]


if __name__ == "__main__":
    actions = [(9, "listing", 20), (17, "listing", 21), (17, "listing", 22), (23, "delisting", 4)]
    market = Market(days=30, total=24, n_feats=6)
    book = Book(market, names=range(20), n_feats=6, target_vol=0.006)
    for ev in trading_year(30, 6, actions):
        getattr(book, "on_" + ev.kind)(ev)
    print(f"sharpe {np.mean(book.pnl) / np.std(book.pnl) * 252 ** 0.5:.2f}")
