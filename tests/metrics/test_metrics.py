"""Facts about `stet metrics` and the metrics that `stet run` gives out, without any framework.

usage: test_metrics.py BUILD_DIR SOURCE_DIR [unittest arguments]
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

BUILD, SOURCE = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
STET = os.path.join(BUILD, "bin", "stet")
HARNESS = os.path.join(BUILD, "bin", "pjrt_harness")
FAKE = os.path.join(BUILD, "lib", "libfake_pjrt.so")


def check(text):
    """promtool's verdict: syntax, naming, HELP and TYPE."""
    out = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
    return out.stdout + out.stderr + ("" if out.returncode == 0 else f"exit {out.returncode}")


def samples(text):
    found = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            found[name] = float(value)
    return found


def pick(found, name, **labels):
    hits = [v for k, v in found.items()
            if k.split("{")[0] == name and all(f'{a}="{b}"' in k for a, b in labels.items())]
    assert len(hits) == 1, (name, labels, hits)
    return hits[0]


class Metrics(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="stet-metrics-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.env = dict(os.environ, STET_STATE_DIR=os.path.join(self.dir, "state"),
                        XDG_CACHE_HOME=os.path.join(self.dir, "cache"))
        for name in ("LD_PRELOAD", "TORCH_TRACE", "STET", "STET_DIR", "STET_RUN", "RANK"):
            self.env.pop(name, None)
        self.program = os.path.join(self.dir, "program.txt")
        with open(self.program, "w") as f:
            f.write("any bytes do\n")

    def stet(self, *args):
        return subprocess.run([STET, *args], capture_output=True, text=True, timeout=60, cwd=self.dir, env=self.env)

    def job(self, *ranks, tail="true"):
        one = f"{HARNESS} --execute 5 --repeat 2 {FAKE} {self.program} >/dev/null"
        return ["sh", "-c", "; ".join([f"RANK={r} {one}" for r in ranks] or [one]) + "; " + tail]

    def start(self, *options, tail):
        p = subprocess.Popen([STET, "run", *options, "--", *self.job(0, 1, tail=tail)], cwd=self.dir, env=self.env,
                             stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(p.stderr.close)
        return p, re.search(r"http://(127\.0\.0\.1):(\d+)/metrics", p.stderr.readline()).groups()

    def scrape(self, host, port, until, **headers):
        deadline = time.time() + 60
        while time.time() < deadline:
            request = urllib.request.Request(f"http://{host}:{port}/metrics", headers=headers)
            with urllib.request.urlopen(request, timeout=60) as answer:
                text = answer.read().decode()
                kind = answer.headers["Content-Type"]
            if until(text):
                return text, kind
            time.sleep(0.2)
        self.fail(text)

    def test_counts_are_those_of_the_run_and_promtool_accepts_the_page(self):
        self.assertEqual(self.stet("run", "--quiet", "--", *self.job(0, 1)).returncode, 0)
        out = self.stet("metrics")
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertEqual(check(out.stdout), "")
        found = samples(out.stdout)
        show = json.loads(self.stet("show", "--format=json").stdout)
        self.assertEqual(len(show["processes"]), 2)
        for rank, process in enumerate(show["processes"]):
            self.assertEqual(pick(found, "stet_compiles_total", rank=rank, lane="xla"), 2)
            self.assertEqual(pick(found, "stet_executions_total", rank=rank), process["executions"])
            seconds = sum(c["cost_s"] for c in process["compiles"])
            self.assertAlmostEqual(pick(found, "stet_compile_seconds_total", rank=rank), seconds, places=6)
        self.assertEqual(pick(found, "stet_run_running"), 0)

    def test_openmetrics_ends_and_names_families_without_total(self):
        self.stet("run", "--quiet", "--", *self.job())
        text = self.stet("metrics", "--format=openmetrics").stdout
        self.assertTrue(text.endswith("# EOF\n"))
        self.assertIn("# TYPE stet_compiles counter\n", text)
        plain = self.stet("metrics").stdout
        self.assertEqual(samples(plain), samples(text))

    def test_json_has_the_same_counts(self):
        self.stet("run", "--quiet", "--", *self.job(3))
        one = json.loads(self.stet("metrics", "--format=json").stdout)
        found = samples(self.stet("metrics").stdout)
        self.assertEqual(one["schema"], "stet.top/1")
        self.assertEqual(one["compiles"], pick(found, "stet_compiles_total"))
        self.assertEqual([p["rank"] for p in one["processes"]], [3])

    def test_a_file_is_whole_readable_and_updated_until_the_end(self):
        path = os.path.join(self.dir, "stet.prom")
        out = self.stet("run", f"--metrics-file={path}", "--", *self.job(0))
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o666 & ~current_umask())
        with open(path) as f:
            text = f.read()
        self.assertEqual(check(text), "")
        self.assertEqual(pick(samples(text), "stet_run_running"), 0)
        self.assertEqual(pick(samples(text), "stet_compiles_total"), 2)
        again = os.path.join(self.dir, "again.prom")
        self.assertEqual(self.stet("metrics", f"--file={again}", "--interval=1").returncode, 0)
        with open(again) as f:
            self.assertEqual(samples(f.read()), samples(text))
        self.assertEqual(sorted(n for n in os.listdir(self.dir) if "prom" in n), ["again.prom", "stet.prom"])

    def test_an_unwritable_file_is_reported_once_and_the_command_runs(self):
        out = self.stet("run", "--metrics-file=/proc/nowhere/x.prom", "--", "sh", "-c", "sleep 2.5; exit 4")
        self.assertEqual(out.returncode, 4)
        self.assertEqual(out.stderr.count("/proc/nowhere/x.prom"), 1, out.stderr)

    def test_a_run_is_scraped_in_both_formats_while_it_runs(self):
        p, at = self.start("--metrics-port=0", tail="read x; exit 6")
        ready = lambda text: sum(v for k, v in samples(text).items() if k.startswith("stet_executions_total")) == 20 \
            and 'stet_programs{' in text and pick(samples(text), "stet_programs") == 1
        self.scrape(*at, ready)
        # From outside it looks the same, as soon as both have seen that the ranks are gone.
        text, kind = self.scrape(*at, lambda text: samples(text) == samples(self.stet("metrics").stdout))
        self.assertIn("version=0.0.4", kind)
        self.assertEqual(check(text), "")
        self.assertEqual(pick(samples(text), "stet_run_running"), 1)
        openmetrics, kind = self.scrape(*at, ready, Accept="application/openmetrics-text;version=1.0.0,*/*;q=0.1")
        self.assertIn("application/openmetrics-text", kind)
        self.assertEqual(samples(openmetrics), samples(text))
        run, = os.listdir(os.path.join(self.dir, "state", "runs"))
        with open(os.path.join(self.dir, "state", "runs", run, "run.json")) as f:
            self.assertEqual(json.load(f)["metrics"], ":".join(at))
        p.communicate("\n", timeout=60)
        self.assertEqual(p.returncode, 6)
        with self.assertRaises(OSError):
            socket.create_connection((at[0], int(at[1])), timeout=60)

    def test_hostile_clients_harm_neither_the_run_nor_each_other(self):
        p, (host, port) = self.start("--metrics-port=0", tail="read x; exit 7")
        idle = [socket.create_connection((host, int(port)), timeout=60) for _ in range(40)]
        for i, s in enumerate(idle):
            try:
                s.sendall([b"", b"GET /metrics HTTP/1.1\r\n", b"\0" * 100, os.urandom(4000), b"x" * 20000][i % 5])
            except OSError:
                pass  # sent away already
        self.scrape(host, port, lambda text: "stet_run_running" in text)  # unit.test_http: none of them is waited for
        p.communicate("\n", timeout=60)
        self.assertEqual(p.returncode, 7)
        for s in idle:
            s.close()

    def test_a_port_that_is_taken_is_reported_and_the_command_runs(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            s.listen()
            out = self.stet("run", f"--metrics-port={s.getsockname()[1]}", "--", "sh", "-c", "exit 5")
        self.assertEqual(out.returncode, 5)
        self.assertIn("no metrics are served: cannot listen", out.stderr)

    def test_wrong_usage_runs_nothing(self):
        for wrong in (["run", "--metrics-port=http", "--", "touch", "x"], ["metrics", "--interval=1"],
                      ["metrics", "--format=xml"], ["metrics", "a", "b"],
                      ["metrics", "--file=x", "--interval=nan"]):
            out = self.stet(*wrong)
            self.assertEqual((out.returncode, out.stdout), (2, ""), (wrong, out.stderr))
        self.assertFalse(os.path.exists(os.path.join(self.dir, "x")))

    def test_no_run_is_an_error_with_a_message(self):
        out = self.stet("metrics")
        self.assertEqual(out.returncode, 3)
        self.assertIn("no run yet", out.stderr)
        out = self.stet("metrics", "4194300")
        self.assertIn("no run '4194300', and no process 4194300 of one", out.stderr)

    def test_a_damaged_journal_is_counted_and_the_rest_exported(self):
        self.stet("run", "--quiet", "--", *self.job())
        run = os.path.join(self.dir, "state", "runs", os.listdir(os.path.join(self.dir, "state", "runs"))[0])
        name = next(n for n in os.listdir(os.path.join(run, "journal")) if re.search(r"\.m0+\.stj$", n))
        path = os.path.join(run, "journal", name)
        size = os.path.getsize(path)
        with open(path, "r+b") as f:
            f.seek(size // 2)
            f.write(b"\xff" * 40)
        with open(path, "ab") as f:
            f.write(os.urandom(100))
        out = self.stet("metrics")
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertEqual(check(out.stdout), "")
        self.assertGreater(pick(samples(out.stdout), "stet_journal_damaged_bytes"), 0)

    def test_the_users_own_trace_folder_is_followed(self):
        trace, log = os.path.join(self.dir, "mine"), "dedicated_log_torch_trace_rank_2_x.log"
        os.mkdir(trace)
        old = os.path.join(trace, "dedicated_log_torch_trace_old.log")
        with open(old, "wb") as f:
            subprocess.run(["zstd", "-dc", os.path.join(SOURCE, "tests/data/torch/train.log.zst")], stdout=f, check=True)
        os.utime(old, (1, 1))  # of another run
        self.env["TORCH_TRACE"] = trace
        p, at = self.start("--metrics-port=0", tail=f"cp {old} {self.dir}/new; mv {self.dir}/new {trace}/{log}; read x")
        found = lambda text: pick(samples(text), "stet_compiles_total", lane="torch", rank=2) == 20 \
            if 'lane="torch"' in text else False
        served = samples(self.scrape(*at, found)[0])
        outside = samples(self.stet("metrics").stdout)
        torch = lambda one: {k: v for k, v in one.items() if 'lane="torch"' in k}
        self.assertEqual(torch(outside), torch(served))
        p.communicate("\n", timeout=60)
        self.assertEqual(torch(samples(self.stet("metrics").stdout)), torch(served))

    def test_a_process_of_both_lanes_has_one_rank(self):
        front = "V1115 08:58:44.555000 $$ torch/_dynamo/utils.py:1] "
        records = [front + text for n in (0, 1) for text in (
            '{"dynamo_start": {"stack": [{"line": 9, "name": "f", "filename": "/a.py"}]}, '
            f'"frame_id": 0, "frame_compile_id": {n}, "attempt": 0}}',
            '{"compilation_metrics": {"co_name": "f", "co_filename": "/a.py", "co_firstlineno": 9, '
            f'"duration_us": 1000}}, "frame_id": 0, "frame_compile_id": {n}, "attempt": 0}}')]
        why = front + '{"artifact": {"name": "recompile_reasons", "encoding": "json"}, "frame_id": 0, "frame_compile_id": 1, ' \
            '"attempt": 0, "has_payload": "8b6c77063b1ec9468a552f54775a2bbb"}'
        records[2:2] = [why, "\t0/0: tensor 'x' size mismatch at index 0. expected 4, actual 6"]
        trace = 'mkdir -p "$TORCH_TRACE"; cat > "$TORCH_TRACE"/dedicated_log_torch_trace_a.log <<E\n' + \
            "\n".join(records) + "\nE\n"
        script = trace + f"read x; RANK=3 exec {HARNESS} --repeat 2 {FAKE} {self.program} >/dev/null"
        path = os.path.join(self.dir, "last.prom")
        p = subprocess.Popen([STET, "run", "--metrics-port=0", f"--metrics-file={path}", "--", "sh", "-c", script],
                             cwd=self.dir, env=self.env, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(p.stderr.close)
        at = re.search(r"http://(127\.0\.0\.1):(\d+)/metrics", p.stderr.readline()).groups()
        # The trace names the process before the process has told its rank.
        early = lambda text: 'rank="none",lane="torch",cause=' in text
        self.assertEqual(pick(samples(self.scrape(*at, early)[0]), "stet_compiles_total", lane="torch", rank="none"), 2)
        p.communicate("\n", timeout=60)
        with open(path) as f:
            text = f.read()
        found = samples(text)
        self.assertNotIn('rank="none"', text)
        self.assertEqual(pick(found, "stet_compiles_total", lane="torch", rank=3), 2)
        self.assertEqual(pick(found, "stet_recompiles_total", lane="torch", rank=3), 1)
        self.assertEqual(pick(found, "stet_compiles_total", lane="xla", rank=3), 2)
        self.assertEqual(samples(self.stet("metrics").stdout), found)

    def test_promtool_accepts_a_page_with_hostile_names(self):
        page = os.path.join(self.dir, "page")
        subprocess.run([os.path.join(BUILD, "bin", "test_metrics"), "names_are_escaped_and_families_are_few"],
                       env=dict(self.env, STET_PAGE=page), check=True, capture_output=True)
        with open(page) as f:
            self.assertEqual(check(f.read()), "")

    def test_the_dashboard_queries_existing_series(self):
        with open(os.path.join(SOURCE, "docs", "grafana-dashboard.json")) as f:
            board = json.load(f)
        with open(os.path.join(SOURCE, "src", "monitor", "metrics.def")) as f:
            listed = re.findall(r'^METRIC\("(\w+)", (\w+),', f.read(), re.M)
        names = {n + ("_total" if kind == "COUNTER" else "") for n, kind in listed}
        self.stet("run", "--quiet", "--", *self.job())
        emitted = set(re.findall(r"^# TYPE (\w+) ", self.stet("metrics").stdout, re.M))
        self.assertEqual(names, emitted)
        queries = [t["expr"] for p in board["panels"] for t in p.get("targets", [])]
        queries += [v["query"]["query"] if isinstance(v["query"], dict) else v["query"]
                    for v in board["templating"]["list"] if v["type"] == "query"]
        self.assertGreater(len(queries), 15)
        asked = set()
        for query in queries:
            self.assertNotRegex(query, r"\[1m\]")  # empty when a scrape comes once a minute
            if re.search("stet_(re)?compiles?_(seconds_)?total", query) and "sum" in query:
                self.assertRegex(query, r"sum by \([a-z, ]*lane")  # one compile may be in both lanes
            found = set(re.findall(r"\bstet_\w+", query))
            self.assertTrue(found, query)
            asked |= found
        self.assertEqual(asked - emitted, set())
        with open(os.path.join(SOURCE, "docs", "metrics.md")) as f:
            told = set(re.findall(r"`(stet_\w+)`", f.read()))
        self.assertEqual(told, emitted)


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


if __name__ == "__main__":
    unittest.main()
