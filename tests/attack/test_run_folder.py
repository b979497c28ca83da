"""A run folder that somebody else made: every command gives an answer or a clear error, in bounded memory and work, and
runs nothing that is in it."""
import glob
import json
import os
import resource
import sqlite3
import subprocess

import attack

MEMORY = 400 << 20  # what any command may need; a run of this size takes some 20 MB
CPU_SECONDS = 30    # of work; what a busy machine adds does not count
COMMANDS = (["explain"], ["show"], ["show", "--format=json"], ["report", "-o", "report.html"], ["report", "--format=json"], ["diff"], ["check"],
            ["top", "--once"], ["metrics"], ["bundle", "show"], ["contract", "init", "-o", "-"], ["torch", "frames"])


class RunFolder(attack.Case):
    def setUp(self):
        super().setUp()
        programs = [self.file(f"p{i}.mlir", attack.program(op)) for i, op in enumerate(("add", "multiply", "subtract"))]
        done = self.stet("run", "--quiet", "--", attack.HARNESS, attack.FAKE, *programs)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.folder = glob.glob(self.dir + "/state/runs/*")[0]
        self.contract = self.dir + "/stet.contract"
        self.assertEqual(self.stet("contract", "init", self.folder, "-o", self.contract).returncode, 0)

    def ask(self, *words, **env):
        """Runs a command with little memory; gives what it said and its peak."""
        with open(self.dir + "/out", "wb") as out, open(self.dir + "/err", "wb") as err:
            pid = os.fork()
            if pid == 0:
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                os.chdir(self.dir)
                resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
                os.execve(attack.STET, [attack.STET, *words], self.environment(**env))
            _, status, usage = os.wait4(pid, 0)
        self.assertTrue(os.WIFEXITED(status), (words, status))
        self.assertIn(os.WEXITSTATUS(status), (0, 1, 2, 3), words)
        self.assertLess(usage.ru_maxrss << 10, MEMORY, words)
        with open(self.dir + "/out", "rb") as out, open(self.dir + "/err", "rb") as err:
            said, wrong = out.read(), err.read()
        self.assertTrue(said or wrong, words)
        if os.WEXITSTATUS(status) == 3:
            self.assertIn(b"stet: ", wrong, words)
        self.assertNotIn(b"SEKRET", said + wrong, words)
        self.assertNotIn(b"root:x:", said + wrong, words)
        return os.WEXITSTATUS(status), (said + wrong).decode(errors="replace")

    def ask_all(self, folder=None, **env):
        folder = folder or self.folder
        said = {}
        for words in COMMANDS:
            more = [folder, folder] if words[0] == "diff" else [folder]
            if words[0] == "check":
                more += ["--contract", self.contract]
            said[" ".join(words)] = self.ask(*words[:2], *more, *words[2:], **env) if words[0] in ("bundle", "contract", "torch") \
                else self.ask(words[0], *more, *words[1:], **env)
        said["runs"] = self.ask("runs", **env)
        return said

    def journals(self):
        return sorted(glob.glob(self.folder + "/journal/*"))

    def programs(self):
        return sorted(glob.glob(self.folder + "/programs/*.mlir.zst"))

    def test_all_commands_answer_for_a_good_folder(self):
        said = self.ask_all()
        for words, (code, text) in said.items():
            self.assertIn(code, (0, 1) if not words.startswith("torch") else (0, 1, 2, 3), (words, text))

    def test_a_program_that_unpacks_to_a_gigabyte_takes_no_gigabyte(self):
        zeros = subprocess.Popen(["head", "-c", "1G", "/dev/zero"], stdout=subprocess.PIPE)
        bomb = subprocess.run(["zstd", "-q", "-1", "-c"], stdin=zeros.stdout, capture_output=True, check=True).stdout
        zeros.wait()
        zeros.stdout.close()
        self.assertLess(len(bomb), 200 << 10)
        for path in self.programs():
            with open(path, "wb") as f:
                f.write(bomb)
        for path in glob.glob(self.dir + "/state/ledger.db*"):
            os.unlink(path)
        self.ask_all()

    def test_pipes_instead_of_files_block_no_command(self):
        """Opening one waits for a writer who never comes."""
        for path in [self.folder + "/bundle.json", *self.journals(), *self.programs()]:
            if os.path.exists(path):
                os.unlink(path)
            os.mkfifo(path)
        self.ask_all()
        os.unlink(self.folder + "/run.json")
        os.mkfifo(self.folder + "/run.json")
        code, text = self.ask("show", self.folder)
        self.assertEqual(code, 3)
        self.ask("runs")
        for name in ("torch", "dump", "logs.txt", "torch-fix.json"):
            path = f"{self.folder}/{name}"
            if not os.path.exists(path):
                os.mkfifo(path)
        self.ask("runs")

    def test_pipes_in_the_folders_of_other_lanes_block_no_command(self):
        for name in ("torch", "dump"):
            os.makedirs(f"{self.folder}/{name}", exist_ok=True)
        os.mkfifo(self.folder + "/torch/dedicated_log_torch_trace_x.log")
        os.mkfifo(self.folder + "/dump/module_0001.jit_f.before_optimizations.hlo.pb")
        os.mkfifo(self.folder + "/logs.txt")
        os.mkfifo(self.folder + "/torch-fix.json")
        self.ask_all()

    def test_links_that_lead_out_reveal_nothing(self):
        secret = self.file("secret", "SEKRET\n" * 10)
        for path in [self.folder + "/bundle.json", *self.journals(), *self.programs()]:
            if os.path.exists(path):
                os.unlink(path)
            os.symlink("/etc/passwd" if path.endswith(".stj") else secret, path)
        self.ask_all()
        os.unlink(self.folder + "/run.json")
        os.symlink("/etc/passwd", self.folder + "/run.json")
        self.ask_all()
        with open(self.dir + "/report.html", "rb") if os.path.exists(self.dir + "/report.html") else open("/dev/null", "rb") as f:
            self.assertNotIn(b"SEKRET", f.read())

    def test_huge_sparse_files_are_not_read_whole(self):
        for path in [self.folder + "/bundle.json", *self.journals(), *self.programs()]:
            with open(path, "ab") as f:
                f.truncate(100 << 30)
        self.ask_all()
        with open(self.folder + "/run.json", "ab") as f:
            f.truncate(100 << 30)
        self.ask("runs")
        self.ask("show", self.folder)

    def test_torn_files_and_garbage_end_no_command_with_a_crash(self):
        """Each file cut in the middle, then filled with noise, then with its own bytes over and over."""
        noise = os.urandom(1 << 20)
        for path in [self.folder + "/run.json", self.folder + "/bundle.json", *self.journals(), *self.programs()]:
            if not os.path.exists(path):
                continue
            with open(path, "rb") as f:
                whole = f.read()
            for content in (whole[:len(whole) // 2], noise, whole * 50, b"", b"[" * 100000):
                with open(path, "wb") as f:
                    f.write(content)
                self.ask("explain", self.folder)
            with open(path, "wb") as f:
                f.write(whole)
        self.ask_all()

    def test_triggers_in_a_ledger_do_not_run(self):
        place = self.dir + "/state/ledger.db"
        self.ask("explain", self.folder)
        db = sqlite3.connect(place)
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")]
        self.assertIn("recompile", tables)
        # What a user's SQLite would run: a trigger on everything that Stet writes, and a view without end.
        db.execute("CREATE TABLE taken (what TEXT)")
        for table in tables:
            for when in ("INSERT", "DELETE", "UPDATE"):
                db.execute(f"CREATE TRIGGER t_{table}_{when} AFTER {when} ON {table} BEGIN INSERT INTO taken VALUES ('SEKRET'); END")
        db.commit()
        db.close()
        with open(self.folder + "/run.json") as f:
            run = json.load(f)
        with open(self.folder + "/run.json", "w") as f:
            json.dump({**run, "ended_ns": run["started_ns"] - 86400 * 10**9}, f)
        self.ask("explain", self.folder)
        self.assertIn("1 run deleted", self.ask("runs", "--prune=0", "--yes")[1])
        db = sqlite3.connect(place)
        self.assertEqual(db.execute("SELECT count(*) FROM taken").fetchone()[0], 0)
        db.close()

    def test_endless_views_in_a_ledger_keep_no_command_busy(self):
        place = self.dir + "/state/ledger.db"
        self.ask("explain", self.folder)
        db = sqlite3.connect(place)
        for table in ("recompile", "run"):
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            db.execute(f"ALTER TABLE {table} RENAME TO hidden_{table}")
            endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT " + \
                ", ".join(f"x AS {c}" for c in columns) + " FROM n"
            db.execute(f"CREATE VIEW {table} AS {endless}")
        db.commit()
        db.close()
        self.ask_all()

    def test_no_command_crashes_on_a_file_that_is_not_a_ledger(self):
        for content in (b"SQLite format 3\0" + os.urandom(8192), os.urandom(4096), b"", b"x"):
            for path in glob.glob(self.dir + "/state/ledger.db*"):
                os.unlink(path)
            with open(self.dir + "/state/ledger.db", "wb") as f:
                f.write(content)
            self.ask("explain", self.folder)
            self.ask("runs")
            self.ask("report", self.folder, "--format=json")
        for path in glob.glob(self.dir + "/state/ledger.db*"):
            os.unlink(path)
        os.mkfifo(self.dir + "/state/ledger.db")
        self.ask("explain", self.folder)

    def test_a_report_of_a_run_that_calls_itself_a_path_stays_in_the_folder(self):
        """The report is named after the run, and stays in the working folder."""
        with open(self.folder + "/run.json") as f:
            run = json.load(f)
        with open(self.folder + "/run.json", "w") as f:
            json.dump({**run, "id": "x/../../escaped"}, f)
        place = self.dir + "/here"
        os.makedirs(place + "/stet-report-x")
        done = subprocess.run([attack.STET, "report", self.folder], env=self.environment(), cwd=place, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(os.listdir(place)), ["stet-report-x", "stet-report-x_.._.._escaped.html"])
        self.assertFalse(glob.glob(self.dir + "/*.html"))

    def test_lines_are_quoted_from_sources_alone(self):
        """A journal names files; a report made of it must not carry a private key away."""
        key = self.file("id_ed25519", "SEKRETKEYLINE\n" * 50)
        source = self.file("model.py", "x = 1  # a line of code\n" * 50)
        for path, expected in ((key, False), (source, True)):
            text = attack.program() .replace("module @p", "#loc1 = loc(\"%s\":3:1)\nmodule @p" % path) \
                .replace("%a, %a : tensor<2x3xf32>\n", "%a, %a : tensor<2x3xf32> loc(#loc1)\n")
            other = text.replace("stablehlo.add", "stablehlo.multiply")
            a, b = self.file("a.mlir", text), self.file("b.mlir", other)
            done = self.stet("diff", a, b)
            self.assertEqual("a line of code" in done.stdout, expected, done.stdout)
            self.assertNotIn("SEKRETKEYLINE", done.stdout)


attack.main()
