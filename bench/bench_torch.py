"""Full ingestion of torch.compile traces, and the HTML report of them, Stet beside tlparse, on a trace of 500 MB or more
made of real ones.

usage: bench_torch.py [BUILD_DIR] [TLPARSE] [--mb N] [--keep]     one JSON object a line; the table goes to standard error

The trace is tests/data/torch (real traces of torch 2.13) over and over, with frame ids of its own each time
(headers only: payloads and their MD5 stay as torch wrote them). Each tool runs in a process of its own, Stet three
times (two before tlparse, one behind it): CPU is user + system time of that process and its children, memory the peak
resident size.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def pieces(path):
    """Text cut before and after each frame id of a header."""
    text = subprocess.run(["zstd", "-dc", path], capture_output=True, check=True).stdout.decode()
    out, at = [], 0
    for m in re.finditer(r'"frame_id": (\d+)', text):
        if text.rfind("\n", 0, m.start()) + 1 != m.start() and text[text.rfind("\n", 0, m.start()) + 1] == "\t":
            continue
        out += [text[at:m.start(1)], int(m[1])]
        at = m.end(1)
    return out + [text[at:]]


def build(path, megabytes):
    sources = [pieces(p) for p in sorted((ROOT / "tests" / "data" / "torch").glob("*.zst"))]
    written, first = 0, 0
    with open(path, "w", encoding="utf-8") as f:
        while written < megabytes << 20:
            for source in sources:
                text = "".join(p if isinstance(p, str) else str(first + p) for p in source)
                f.write(text)
                written += len(text)
                first += 1 + max(p for p in source if isinstance(p, int))
    return os.path.getsize(path)


def measure(command, env=None):
    """wall, CPU seconds, peak MB, exit code, output."""
    read, write = os.pipe()
    started = time.monotonic()
    pid = os.fork()
    if pid == 0:
        os.dup2(write, 1)
        os.dup2(write, 2)
        os.close(read)
        os.execvpe(command[0], command, env or os.environ)
    os.close(write)
    text = b""
    while chunk := os.read(read, 65536):
        text += chunk
    os.close(read)
    _, status, usage = os.wait4(pid, 0)
    return (time.monotonic() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024,
            os.waitstatus_to_exitcode(status), text.decode(errors="replace"))


def written(folder):
    files = [p for p in folder.rglob("*") if p.is_file() and not p.is_symlink()]
    return f"{len(files)} files, {sum(p.stat().st_size for p in files) / 1e6:.1f} MB"


def stet_once(stet, trace, state, page):
    """Ingestion into an empty state, and the page of it."""
    shutil.rmtree(state, ignore_errors=True)
    env = dict(os.environ, STET_STATE_DIR=str(state))
    return measure([stet, "torch", "ingest", str(trace)], env), measure([stet, "report", "-o", str(page)], env)


def line(name, unit, values, limit, baseline):
    values = sorted(values)
    print(json.dumps({"bench": name, "unit": unit, "value": values[len(values) // 2], "p10": values[0],
                      "p90": values[-1], "limit": limit, "baseline": baseline, "against": "tlparse"}), flush=True)


def say(*words):
    print(*words, file=sys.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("tlparse", nargs="?", default=ROOT / "build" / "env" / "tlparse" / "bin" / "tlparse")
    parser.add_argument("--mb", type=int, default=510)
    parser.add_argument("--keep", action="store_true")
    args = parser.parse_args()
    if not os.path.exists(args.tlparse):
        subprocess.run([ROOT / "tools" / "python-env.sh", "tlparse", ROOT / "build" / "env" / "tlparse"], check=True,
                       stdout=sys.stderr)
    folder = args.build.resolve() / "torch-bench"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        trace = folder / "dedicated_log_torch_trace_bench.log"
        size = build(trace, args.mb)
        say(f"trace: {size / 1e6:.0f} MB")
        with open(trace, "rb") as f:  # both find it in the page cache
            while f.read(1 << 24):
                pass
        state, page = folder / "state", folder / "report.html"
        stet = str(args.build / "bin" / "stet")
        rounds = [stet_once(stet, trace, state, page) for _ in range(2)]
        other = measure([str(args.tlparse), str(trace), "-o", str(folder / "html"), "--no-browser", "--overwrite"])
        rounds.append(stet_once(stet, trace, state, page))
        failed = [m for r in rounds for m in r if m[3]] + ([other] if other[3] else [])
        for m in failed:
            say(m[4][-1000:])
        say(rounds[-1][0][4].strip())
        ingest, report = sorted(rounds, key=lambda r: r[0][1])[1]  # the median of ingestion
        both = [ingest[0] + report[0], ingest[1] + report[1], max(ingest[2], report[2])]
        html = f"1 file, {page.stat().st_size / 1e6:.1f} MB" if page.exists() else "nothing"
        say("\n| | CPU s | wall s | MB/s of CPU | peak MB | writes |\n|---|---|---|---|---|---|")
        for name, m, what in (("`stet torch ingest`", ingest, written(state) + " (ledger)"),
                              ("`stet report`", report, html + " (page)"),
                              ("both", both, written(state) + "; " + html),
                              ("`tlparse`", other, written(folder / "html") + " (pages)")):
            say(f"| {name} | {m[1]:.2f} | {m[0]:.2f} | {size / 1e6 / m[1]:.0f} | {m[2]:.0f} | {what} |")
        say(f"\ningestion: {other[1] / ingest[1]:.1f} times less CPU "
            f"({', '.join(f'{other[1] / r[0][1]:.1f}' for r in rounds)}); with the report: {other[1] / both[1]:.1f}; "
            f"peak {both[2]:.0f} MB of 64")
        line("torch.ingest.cpu", "s", [r[0][1] for r in rounds], round(other[1] / 20, 3), other[1])
        line("torch.ingest-and-report.cpu", "s", [r[0][1] + r[1][1] for r in rounds], round(other[1] / 5, 3), other[1])
        line("torch.ingest.memory", "MB", [max(r[0][2], r[1][2]) for r in rounds], 64, other[2])
        return 1 if failed else 0
    finally:
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
