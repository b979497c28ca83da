"""No secret of a command line, of the environment, of an address or of a source line may reach a file
that Stet writes or a line that it prints."""
import glob
import gzip
import os
import re
import sqlite3
import stat
import subprocess
import sys

import attack

# Each secret is a word that occurs nowhere else. A name says how it is given.
ARGUMENTS = {
    "option=": "--api-key={}",
    "option": ("--password", "{}"),
    "dash-value": ("--client-secret", "-{}"),
    "url": "--db=postgres://me:{}@db/x",
    "url-slash": "--db2=postgres://me:a/{}@db/x",
    "url-blank": "--db3=postgres://me:a {} b@db/x",
    "url-comma": "--tiers=redis://:x@y,{}@cache:6379",
    "login": "--proxy=me:{}@proxy:8080",
    "key=": "key={}",
    "json": '--config={{"token": "{}", "n": 3}}',
    "json-blank": '{{"password": "a {} b"}}',
    "yaml": "--set=secret: {}",
    "header": ("-H", "Authorization: Bearer {}"),
    "query": "https://host/x?user=1&token={}&n=2",
    "hf": "hf_{}abcdefgh",
    "github": "--pat=ghp_{}01234567",
    "openai": "sk-{}0123456789",
    "aws": "AKIA{}01234567",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.{}.c2ln",
    "shell": "true --token {} # in one word",
    "camel": "accessToken={}",
    "python": "password = '{}'",
}
ENVIRONMENT = {
    "JAX_COORDINATOR_TOKEN": "{}",
    "NCCL_PROXY": "http://me:{}@proxy:1/",
    "TORCH_SETTINGS": '{{"api_key": "{}"}}',
    "PYTORCH_ARGS": "--lr 3 --secret {} --n 4",
    "CLOUD_TPU_CONFIG": "key={}",
    "JAX_URL": "postgres://u:p/{}@h/db",
    "NVIDIA_LICENSE_KEY": "{}",
    "TPU_WORKER": "hf_{}abcdefgh",
    "AWS_SECRET_ACCESS_KEY": "{}",
    "HF_TOKEN": "{}",
    "WANDB_API_KEY": "{}",
    "TPU_DSN": "me:{}@host:1",
}


def word(n):
    return f"SEKRET{n:03d}x"


def unpacked(path):
    """The raw bytes of a file, and all that is packed into it."""
    with open(path, "rb") as f:
        raw = f.read()
    found = [raw]
    if raw.startswith(b"\x28\xb5\x2f\xfd"):
        found.append(subprocess.run(["zstd", "-dcf", path], capture_output=True, check=True).stdout)
    if raw.startswith(b"\x1f\x8b"):
        found.append(gzip.decompress(raw))
    if raw.startswith(b"SQLite format 3"):
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        found.append("\n".join(db.iterdump()).encode())
        db.close()
    return b"\n".join(found)


class Secrets(attack.Case):
    def setUp(self):
        super().setUp()
        self.words, count = [], 0
        for template in ARGUMENTS.values():
            parts = template if isinstance(template, tuple) else (template,)
            count += 1
            self.words += [p.format(word(count)) for p in parts]
        self.env = {}
        for name, template in ENVIRONMENT.items():
            count += 1
            self.env[name] = template.format(word(count))
        self.count = count
        self.programs = [self.file(f"p{i}.mlir", attack.program(op)) for i, op in enumerate(("add", "multiply"))]
        # A shell that ignores its further arguments: every one of them is in both command lines.
        self.command = ["sh", "-c", f"{attack.HARNESS} {attack.FAKE} {' '.join(self.programs)}; exit 0", "sh"]

    def clean(self, text, where):
        found = sorted(set(re.findall(rb"SEKRET\d{3}", text if isinstance(text, bytes) else text.encode())))
        self.assertEqual(found, [], where)

    def say(self, *words, expect=(0, 1), **env):
        done = self.stet(*words, **{**self.env, **env})
        self.assertIn(done.returncode, expect, (words, done.stderr))
        self.clean(done.stdout + done.stderr, words)
        return done

    def new_runs(self, known):
        """The one run that came since; their names alone do not tell their order within a second."""
        new = sorted(set(os.listdir(self.dir + "/state/runs")) - set(known))
        self.assertEqual(len(new), 1)
        return new

    def test_no_secret_is_written_or_printed(self):
        self.assertGreaterEqual(self.count, 20)
        stay = self.dir + "/out"
        os.mkdir(stay)
        harness = [attack.HARNESS, "--set", "password=" + word(900), "--set", "endpoint=http://u:" + word(901) + "@h/",
                   attack.FAKE, *self.programs]
        known = []
        self.say("run", "--json-events=" + stay + "/events", "--metrics-file=" + stay + "/metrics", "--",
                 *self.command, *self.words)
        known += self.new_runs(known)
        self.say("run", "--", *harness)
        known += self.new_runs(known)
        # The process that loads the plugin has the secrets in its own command line here.
        loader = self.file("loader.py", f"import ctypes\nctypes.CDLL({attack.FAKE!r}).GetPjrtApi()\n")
        self.say("run", "--", sys.executable, loader, *self.words)
        runs = known + self.new_runs(known)
        # What was seen must be there, or nothing was tested: the arguments that are no secrets.
        with open(f"{self.dir}/state/runs/{runs[0]}/run.json") as f:
            text = f.read()
        for kept in ("--api-key=***", "--password", "@db/x", "n=2", "proxy:8080"):
            self.assertIn(kept, text)
        journals = b"".join(map(unpacked, glob.glob(f"{self.dir}/state/runs/{runs[2]}/journal/*")))
        self.assertIn(b"--api-key=***", journals)

        for run in runs:
            self.say("show", run)
            self.say("show", run, "--format=json")
            self.say("explain", run)
            self.say("explain", run, "--format=json")
            self.say("report", run, "-o", f"{stay}/{run}.html")
            self.say("report", run, "--format=json")
            self.say("contract", "init", run, "-o", f"{stay}/{run}.contract", expect=(0,) if run != runs[2] else (3,))
            self.say("top", run, "--once")
            self.say("top", run, "--once", "--format=json")
            self.say("bundle", "show", run)
            self.say("torch", "show", run, expect=range(0, 4))
        self.say("check", runs[0], "--contract", f"{stay}/{runs[0]}.contract", expect=range(0, 4))
        self.say("run", "--contract", f"{stay}/{runs[0]}.contract", "--", *self.command, *self.words, expect=range(0, 4))
        self.say("runs")
        self.say("runs", "--format=json")
        self.say("diff", runs[0], runs[1])
        self.say("diff", runs[0], runs[1], "--format=json")
        self.say("bundle", "record", "-o", stay + "/bundle.json")
        self.say("bundle", "check", stay + "/bundle.json", expect=range(0, 4))
        self.say("doctor", expect=range(0, 4))
        self.say("cache", "ls")
        self.say("cache", "stats", expect=range(0, 4))
        self.say("metrics", runs[0], "--once", expect=range(0, 4))

        for folder, _, names in os.walk(self.dir):
            for name in names:
                path = os.path.join(folder, name)
                self.clean(name, path)
                if os.path.islink(path) or not os.path.isfile(path):
                    continue
                self.clean(unpacked(path), path)

    def test_a_run_of_an_older_stet_is_masked_when_it_is_read(self):
        self.say("run", "--", "true", *self.words)
        run = glob.glob(self.dir + "/state/runs/*")[0]
        with open(run + "/run.json") as f:
            text = f.read()
        with open(run + "/run.json", "w") as f:
            f.write(text.replace("--api-key=***", "--api-key=" + word(1)))
        for words in (("runs",), ("show", run), ("runs", "--format=json"), ("show", run, "--format=json")):
            self.assertIn("--api-key=***", self.say(*words).stdout)

    def test_source_lines_are_masked(self):
        path = self.file("train.py", f'import jax\n\n\n@jax.jit\ndef f(x, password="{word(1)}"):\n    if x > 0:  # token="{word(2)}"\n'
                                     '        return x\n    return -x\n')
        done = self.stet("lint", path)
        self.assertIn("train.py:6", done.stdout)
        self.clean(done.stdout + done.stderr, "lint")

    def test_the_ledger_is_for_its_owner_alone(self):
        place = self.dir + "/shared/ledger.db"
        os.mkdir(self.dir + "/shared", 0o755)
        for prepare in (lambda: None, lambda: os.chmod(place, 0o644)):
            prepare()
            self.say("run", "--", *self.command, STET_LEDGER=place)
            self.say("explain", STET_LEDGER=place)
            for path in glob.glob(place + "*"):
                self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600, path)

    def test_the_same_command_is_known_whatever_its_secret(self):
        """Identity rests on the masked command line, so a new token does not hide the runs before."""
        for secret in ("first", "second"):
            self.say("run", "--", *self.command, "--token", secret + "0123456789")
        commands = {re.sub(r"^.*?(sh -c)", r"\1", line) for line in self.say("runs").stdout.splitlines() if "sh -c" in line}
        self.assertEqual(len(commands), 1, commands)


attack.main()
