"""Compares the results of two runs."""
import subprocess


def compare(python, plain, lifted):
    """The names of results that differ, by an interpreter that has NumPy."""
    code = ("import numpy, sys\n"
            "a, b = (numpy.load(p) for p in sys.argv[1:])\n"
            "print(*[k for k in a.files if a[k].tobytes() != b[k].tobytes()] + "
            "sorted(set(a.files) ^ set(b.files)))\n")
    done = subprocess.run([python, "-c", code, plain, lifted], capture_output=True, text=True,
                          check=True)
    return done.stdout.split()
