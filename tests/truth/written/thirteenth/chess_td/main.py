import jax

from evaluator import make
from selfplay import Arena
from train import Coach

coach = Coach(make(jax.random.key(11)), Arena(5))


@coach.on_game
def log(n, game, err, score):
    print(f"game {n:2d} plies {len(game.boards):2d} result {game.result:+.0f} td {err:.4f} best {score:+.3f}")


if __name__ == "__main__":
    coach.season(12)
