"""On a machine with a GPU and PyTorch: CUDA graphs that are recorded again are counted, explained and told live.

usage: graphs.py BUILD_DIR OUT_DIR     BUILD_DIR has bin/stet and lib/libstet.so
       graphs.py work                  the workload alone
"""

import json
import os
import subprocess
import sys

SIZES = range(8, 88, 8)


def work():
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).cuda()

    @torch.compile(mode="reduce-overhead")
    def step(x):
        return model(x).sum()

    @torch.compile(mode="reduce-overhead")
    def infer(x):
        return model(x) * 2  # moved

    def call(function, size):
        for _ in range(3):
            torch.compiler.cudagraph_mark_step_begin()
            function(torch.ones(size, 64, device="cuda")).sum().item()

    for size in SIZES:
        call(step, size)
    with torch.no_grad():
        for _ in range(2):
            call(infer, 8)
            model[0].weight.data = model[0].weight.data.clone()


def main():
    build, out = (os.path.abspath(p) for p in sys.argv[1:3])
    os.makedirs(out, exist_ok=True)
    stet = os.path.join(build, "bin", "stet")
    env = dict(os.environ, STET_STATE_DIR=os.path.join(out, "state"), TORCHINDUCTOR_CACHE_DIR=os.path.join(out, "cache"))
    told = dict(env, TORCH_LOGS="+cudagraphs", TORCH_LOGS_OUT=os.path.join(out, "printed.log"))
    run = subprocess.run([stet, "run", "--", sys.executable, os.path.abspath(__file__), "work"], env=told, text=True,
                         capture_output=True)
    if run.returncode:
        sys.exit(run.stderr[-4000:])
    rows = json.loads(subprocess.run([stet, "explain", "--format=json"], env=env, text=True, capture_output=True).stdout)["recompiles"]
    rows = {r["function"]: r for r in rows if r["class"] == "cudagraph-rerecord"}
    with open(__file__, encoding="utf-8") as f:
        moved = next(n for n, line in enumerate(f, 1) if line.endswith("# moved\n"))
    for name, r in rows.items():
        print(f"{name}: {r['evidence']}, line {r['origin']['line']}")
    fine = set(rows) == {"step", "infer"} and rows["infer"]["origin"]["line"] == moved \
        and f"recorded {len(SIZES) - 1} times: another size" in rows["step"]["evidence"] \
        and "recorded 2 times: the address of a static input changed" in rows["infer"]["evidence"] \
        and "step (" in run.stderr and "records its CUDA graph again (8 times), cudagraph-rerecord: another size" in run.stderr
    print("OK" if fine else run.stderr[-4000:])
    sys.exit(not fine)


if __name__ == "__main__":
    work() if sys.argv[1:] == ["work"] else main()
