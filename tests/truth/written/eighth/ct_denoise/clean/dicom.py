# reader for the anonymised chest series (phantom stand-in)
import numpy as np

SERIES = [
    ("P001", "SIEMENS", 24), ("P002", "SIEMENS", 24), ("P003", "GE", 24),
    ("P004", "SIEMENS", 21), ("P005", "GE", 24), ("P006", "SIEMENS", 24),
]


def read_header(patient):
    for pid, vendor, n in SERIES:
        if pid == patient:
            return {
                "PatientID": pid,
                "Manufacturer": vendor,
                "NumberOfSlices": n,
                "PixelRepresentation": 1 if vendor == "GE" else 0,
                "RescaleSlope": 1.0 if vendor == "GE" else 0.5,
                "RescaleIntercept": 0.0 if vendor == "GE" else -1024.0,
            }
    raise KeyError(patient)


def read_pixels(hdr, side=24):
    seed = int(hdr["PatientID"][1:])
    rng = np.random.RandomState(seed)
    yy, xx = np.mgrid[0:side, 0:side] / side - 0.5
    vol = np.empty((hdr["NumberOfSlices"], side, side))
    for k in range(len(vol)):
        r = 0.25 + 0.1 * np.sin(k / 5.0)
        vol[k] = np.where(yy ** 2 + xx ** 2 < r ** 2, 60.0, -800.0) + rng.randn(side, side) * 40
    raw = (vol - hdr["RescaleIntercept"]) / hdr["RescaleSlope"]
    return np.round(raw).astype(np.float32)


def patients():
    return [s[0] for s in SERIES]
