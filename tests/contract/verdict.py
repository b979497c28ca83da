"""action.yml, docs/ci/gitlab.yml and docs/ci/buildkite.yml as their services run them: green as the script is, red
with a planted drift, and the verdict posted each time.

    verdict.py BUILD_DIR PYTHON

The commands are taken from the files themselves and go through a shell in the repository. What posts the verdict
(gh, curl, buildkite-agent) is a script that notes how it was called; the installation is this test's environment.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD, PYTHON = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).absolute()
GOOD, DRIFT = "[9] * 7", "[9, 14, 11, 9, 17, 14, 20]"


def unquoted(text):
    return text[1:-1].replace("''", "'") if text.startswith("'") else text


def github():
    """(command, runs after a failure) of each step; the expressions are what the job gives them."""
    text = (ROOT / "action.yml").read_text()
    steps = re.split(r"\n    - name: ", text)[1:]
    env = {name: value for name, value in re.findall(r"^        (STET_\w+): (.*)$", text, re.M)}
    inputs = dict(re.findall(r"^  ([\w-]+):\n    description: .*\n    (?:default|required): (.*)$", text, re.M), command="python train.py")
    for name, value in env.items():
        env[name] = re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda m: inputs[m[1]].strip('"'), value)
    env.update(GITHUB_ACTION_PATH=str(ROOT), NUMBER="7")
    return [(unquoted(re.search(r"^      run: (.*)$", s, re.M)[1]), "if: always()" in s) for s in steps], env


def listed(path, key, dollars="$"):
    text = re.search(rf"^ *{key}:\n((?: +- .*\n)+)", (ROOT / path).read_text(), re.M)[1]
    return [unquoted(line.strip()[2:]).replace("$$", dollars) for line in text.splitlines()]


def job(service, repository, env):
    """(red, log, what was posted)"""
    posted = repository / "posted"
    posted.unlink(missing_ok=True)
    (repository / "stet-verdict.md").unlink(missing_ok=True)
    (repository / "summary").write_text("")
    if service == "github":
        steps, more = github()
        env = dict(env, GITHUB_STEP_SUMMARY=str(repository / "summary"), **more)
    elif service == "gitlab":
        steps = [(c, False) for c in listed("docs/ci/gitlab.yml", "script")] + [(" && ".join(listed("docs/ci/gitlab.yml", "after_script")), True)]
        env = dict(env, STET_GITLAB_TOKEN="t", CI_API_V4_URL="https://x/api", CI_PROJECT_ID="1", CI_MERGE_REQUEST_IID="2")
    else:
        steps = [(c, False) for c in listed("docs/ci/buildkite.yml", "commands")]
    red, log = False, ""
    for command, always in steps:
        if "pip install" in command or (red and not always):
            continue
        done = subprocess.run(["bash", "-e", "-c", command], cwd=repository, env=env, capture_output=True, text=True, timeout=200)
        log += done.stdout + done.stderr
        red |= done.returncode != 0 and not always
        assert done.returncode == 0 or not always, (command, log)
    return red, log, posted.read_text() + (repository / "summary").read_text() if posted.exists() else ""


with tempfile.TemporaryDirectory(prefix="stet-verdict-") as scratch:
    top = pathlib.Path(scratch)
    repository, tools = top / "repository", top / "bin"
    repository.mkdir()
    tools.mkdir()
    for name in ("gh", "curl", "buildkite-agent"):
        (tools / name).write_text(f'#!/bin/sh\n{{ echo {name} "$@"; cat stet-verdict.md; }} >>posted\n')
        (tools / name).chmod(0o755)
    (repository / "docs" / "ci").mkdir(parents=True)
    (repository / "docs" / "ci" / "verdict.sh").write_text((ROOT / "docs" / "ci" / "verdict.sh").read_text())
    source = (ROOT / "examples" / "traps" / "shape-drift.py").read_text()
    script = repository / "train.py"
    script.write_text(source.replace(DRIFT, GOOD))
    env = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "XLA_", "PJRT_", "TPU_", "STET_"))}
    env.update(PATH=f"{tools}:{BUILD / 'bin'}:{PYTHON.parent}:{env['PATH']}", STET_STATE_DIR=str(top / "state"), STET_STORE=str(top / "store"),
               STET_CPU_THREADS="1", CI="true")
    subprocess.run(["stet", "run", "--quiet", "--cpu", "--", "python", "train.py"], cwd=repository, env=env, check=True, timeout=200)
    subprocess.run(["stet", "contract", "init"], cwd=repository, env=env, check=True, capture_output=True, timeout=60)
    for service, post in (("github", "gh pr comment 7 --body-file stet-verdict.md"), ("gitlab", "/merge_requests/2/notes"),
                          ("buildkite", "annotate --context stet --style ")):
        script.write_text(source.replace(DRIFT, GOOD))
        red, log, posted = job(service, repository, env)
        assert not red and "**stet.contract holds.**" in posted and post in posted, (service, log, posted)
        assert "### Stet: " in posted, posted
        script.write_text(source)
        red, log, posted = job(service, repository, env)
        assert red and "**stet.contract is broken:**" in posted and post in posted, (service, log, posted)
        assert "`shape-drift`" in posted and "train.py:18" in posted, posted
        assert (service == "github") == ("::error file=train.py,line=18," in log), log
        script.write_text("raise SystemExit(5)\n")
        red, log, posted = job(service, repository, env)
        assert red and "the command failed with exit code 5" in posted, (service, log, posted)
        print(service, "posts the verdict: green, red, failed")
