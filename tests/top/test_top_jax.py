"""What `stet top` shows of a real job (JAX on the CPU backend, two ranks) is what the job did.

usage: test_top_jax.py BUILD_DIR ENVIRONMENTS
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
BUILD, ENVS = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).absolute()
STET, JAX = str(BUILD / "bin" / "stet"), str(ENVS / "jax" / "bin" / "python")
TRAIN = HERE.parent / "metrics" / "train.py"
STEPS = (150, 210)


def main():
    folder = tempfile.mkdtemp(prefix="stet-top-jax-")
    go = os.path.join(folder, "go")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("TORCH", "STET_", "XLA_", "JAX_", "TMUX"))}
    env.update(STET_STATE_DIR=os.path.join(folder, "state"), XDG_CACHE_HOME=os.path.join(folder, "cache"),
               TMUX_TMPDIR=folder)
    tmux = lambda *args: subprocess.run(["tmux", "-u", "-L", "top", *args], env=env, capture_output=True, text=True,
                                        timeout=60).stdout
    job = "".join(f"RANK={r} {JAX} {TRAIN} {STEPS[r]} {go} & " for r in (0, 1)) + "wait"
    run = subprocess.Popen([STET, "run", "--quiet", "--cpu", "--no-store", "--", "sh", "-c", job], env=env, cwd=folder,
                           text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        while not os.path.isdir(os.path.join(folder, "state", "runs")):
            time.sleep(0.05)
        # From the beginning on, so that all of it is followed and not read afterwards.
        tmux("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40",
             f"env STET_STATE_DIR={env['STET_STATE_DIR']} {STET} top; echo exit $?; sleep 600")
        assert [json.loads(run.stdout.readline())["rank"] in (0, 1) for _ in STEPS]
        line = next(i for i, text in enumerate(TRAIN.read_text().splitlines(), 1) if text.startswith("    x = "))
        wanted = [r"^ stet top .* running", rf"\nsteps +{max(STEPS)} ", rf"executions {sum(STEPS) + 2} ",
                  r"processes 2 of 2", r"\ncompiles +8 in .*, 4 programs +4 again, ",
                  rf"\n +0 +\d+ +{STEPS[0]} .* 4 .*running", rf"\n +1 +\d+ +{STEPS[1]} .* 4 .*running",
                  r"\n train_step +3 +6 ", r"\n +0 +cpu:0 +\[.*\] .* of ",
                  rf"4× shape-drift in train_step, \S*train.py:{line}, waited .*\n +argument x dimension 0 (8 → 16|16 → 24): Pad "]
        deadline, text = time.time() + 90, ""
        while time.time() < deadline and not all(re.search(w, text) for w in wanted):
            time.sleep(0.3)
            text = tmux("capture-pane", "-p")
        missing = [w for w in wanted if not re.search(w, text)]
        assert not missing, f"{missing} in\n{text}"
        open(go, "w").close()
        assert run.wait(timeout=90) == 0
        deadline = time.time() + 60
        while "  exit 0 " not in tmux("capture-pane", "-p") and time.time() < deadline:
            time.sleep(0.2)
        over = tmux("capture-pane", "-p")
        assert "  exit 0 " in over and re.search(rf"\nsteps +{max(STEPS)} ", over), over
        # Read afterwards, it says the same.
        after = json.loads(subprocess.run([STET, "top", "--once", "--format=json"], env=env, cwd=folder, check=True,
                                          capture_output=True).stdout)
        assert (after["steps"], after["compiles"], after["recompiles"]) == (max(STEPS), 8, 4), after
        assert [(c["class"], c["line"], c["times"]) for c in after["causes"]] == [("shape-drift", line, 4)], after
        assert sorted((p["rank"], p["steps"]) for p in after["processes"]) == list(enumerate(STEPS))
        print(text)
    finally:
        open(go, "w").close()
        tmux("kill-server")
        run.communicate(timeout=60)
        shutil.rmtree(folder, ignore_errors=True)
    print("right")


if __name__ == "__main__":
    main()
