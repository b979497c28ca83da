import numpy as np

from sensors import Radar
from tracker import Tracker


def rmse(est, truth):
    d = np.linalg.norm(est[:, None, :2] - truth[None], axis=-1)
    return float(np.sqrt((d.min(0) ** 2).mean()))


def main(n_frames=30):
    radar = Radar()
    trk = Tracker(radar.truth)
    errs = []
    for frame in radar.frames(n_frames):
        errs.append(rmse(np.asarray(trk(frame).mean), radar.truth))
    print(f"frames={n_frames} rmse first={errs[0]:.3f} last={errs[-1]:.3f}")


if __name__ == "__main__":
    main()
