import numpy as np

from pf import Localizer
from world import Room

room, where = Room(), Localizer(256)
track = []
for t in range(26):
    control = room.walk(t)
    guess = where(control, room.sense(t))
    miss = float(np.linalg.norm(guess - room.pose))
    track.append(miss)
    if t % 5 == 0:
        print(f"t={t:2d} miss={miss:.2f} ess={where.ess:.1f}")
print("rmse", round(float(np.sqrt(np.mean(np.square(track)))), 3), "refreshed", where.refreshed)
