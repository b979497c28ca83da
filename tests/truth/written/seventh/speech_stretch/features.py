import numpy as np

WIN = 256
HOP = 128
BINS = 24


def resample(wave, speed):
    if speed == 1.0:
        return wave
    n_out = int(round(len(wave) / speed))
    grid = np.linspace(0.0, len(wave) - 1, n_out)
    return np.interp(grid, np.arange(len(wave)), wave).astype(np.float32)


def featurize(wave, speed=1.0):
    wave = resample(wave, speed)
    n_frames = 1 + (len(wave) - WIN) // HOP
    idx = np.arange(WIN)[None, :] + HOP * np.arange(n_frames)[:, None]
    spec = np.abs(np.fft.rfft(wave[idx] * np.hanning(WIN), axis=-1))
    return np.log1p(spec[:, :BINS]).astype(np.float32)
