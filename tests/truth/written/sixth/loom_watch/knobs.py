"""Process-wide switches."""
LABEL_SMOOTHING = False
SMOOTH = 0.05
VERBOSE = True
EPOCHS = 3
