# Plant-wide tuning constants. Edited by the operators, read everywhere.
ZONES = 6
BURNERS = 3
AMBIENT = 0.2
SMOOTHING = 0.5
HORIZON = 5
REPORT_EVERY = 4
