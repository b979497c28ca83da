from dataclasses import dataclass


@dataclass
class Stage:
    steps: int
    horizon: int        # how many sample times of a curve are fitted
    stiffness: float    # weight of the conservation penalty


class Curriculum:
    """Short horizons first: the classic cure for exploding neural ODEs."""

    def __init__(self, n_points):
        self.n_points = n_points
        self.stages = [Stage(6, 5, 0.1), Stage(6, 13, 0.2), Stage(6, n_points, 0.4)]

    def __iter__(self):
        for number, stage in enumerate(self.stages):
            for _ in range(stage.steps):
                yield number, stage

    def crop(self, stage, times, curves):
        return times[: stage.horizon], curves[:, : stage.horizon]
