import numpy as np

from bayes import Posterior
from design import Campaign, pick


def main(rounds=5, iters=10):
    campaign = Campaign()
    post = Posterior()
    grid = np.linspace(-3, 3, 40, dtype=np.float32)
    for r in range(rounds):
        loss = post.fit(campaign, iters + 2 * r)
        sd = post.uncertainty(grid)
        campaign.measure(pick(grid, sd))
        print(f"round {r} elbo {loss:.3f} max sd {float(np.max(sd)):.3f} spent {campaign.cost:.1f}")


if __name__ == "__main__":
    main()
