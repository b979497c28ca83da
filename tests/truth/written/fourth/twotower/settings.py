"""Settings for the offline two-tower trainer."""

SETTINGS = {
    "catalogue": {"items": 400, "users": 120},
    "model": {"dim": 16, "temperature": 0.2},
    "train": {"steps": 32, "batch": 24, "lr": 0.05, "seed": 11},
    "traffic": {"web": 0.0, "app": 1.0, "app_from_step": 9},
    "history": {"bucket": 5, "max_events": 20},
}
