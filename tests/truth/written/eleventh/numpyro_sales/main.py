import jax
import numpy as np
import numpyro
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal

from feed import DailyFeed
from model import sales

START, END, WINDOW, INNER = 24, 34, 28, 6


class OnlineForecaster:
    def __init__(self, feed, window):
        self.feed = feed
        self.window = window
        self.guide = AutoNormal(sales)
        self.svi = SVI(sales, self.guide, numpyro.optim.Adam(0.05), Trace_ELBO())
        self.state = self.svi.init(jax.random.key(0), *feed.history(START, window))
        self.update = jax.jit(self.svi.update)
        self.median = jax.jit(self.guide.median)

    def refresh(self, today, inner):
        losses = []
        data = self.feed.history(today, self.window)
        for _ in range(inner):
            self.state, loss = self.update(self.state, *data)
            losses.append(loss)
        return float(np.mean(jax.device_get(losses)))

    def forecast(self, day):
        m = jax.device_get(self.median(self.svi.get_params(self.state)))
        guess = self.feed.x[day] @ m["coef"] + m["lift"] * self.feed.campaign[day]
        return float(guess), m


def main():
    feed = DailyFeed(END + 1)
    model = OnlineForecaster(feed, WINDOW)
    errors = []
    for day in range(START, END):
        loss = model.refresh(day, INNER)
        guess, m = model.forecast(day)
        errors.append(abs(guess - float(feed.y[day])))
        print(f"day {day} elbo {-loss:8.2f} guess {guess:5.2f} real {feed.y[day]:5.2f}")
    print("mae", round(float(np.mean(errors)), 3), "sigma", round(float(m["sigma"]), 3))


if __name__ == "__main__":
    main()
