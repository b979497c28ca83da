"""Ten thousand functions on four ranks: a contract of them is made and checked, each frame by its own clause. And of
a few, with every allocation failing once (in builds that can): that is told, or does no harm.

usage: test_many.py BUILD_DIR
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

RANKS, FUNCTIONS = 4, 10000


def write_log(path, compiles, functions=FUNCTIONS):
    head = "V1115 08:58:44.557000 16924 torch/_dynamo/convert_frame.py:1] "
    with open(path, "w") as f:
        f.write(head + '{"str": ["/home/ada/train.py", 1]}\n')
        for number in range(functions):
            for again in range(compiles(number)):
                frame = {"line": number + 3, "name": f"function_{number}", "filename": 1}
                f.write(head + json.dumps({"dynamo_start": {"stack": [frame]}, "frame_id": number, "frame_compile_id": again, "attempt": 0}) + "\n")


def main():
    stet = pathlib.Path(sys.argv[1]).resolve() / "bin" / "stet"
    with tempfile.TemporaryDirectory() as where:
        env = {k: v for k, v in os.environ.items() if not k.startswith(("TORCH", "STET_"))}
        env.update(STET_STATE_DIR=where + "/state", NO_COLOR="1")

        def run(code, *words):
            done = subprocess.run([stet, *words], env=env, cwd=where, capture_output=True, text=True)
            assert done.returncode == code, (words, done.returncode, done.stderr)
            return done.stdout

        def ingest(name, compiles):
            os.mkdir(f"{where}/{name}")
            for rank in range(RANKS):
                write_log(f"{where}/{name}/dedicated_log_torch_trace_rank_{rank}_x.log", lambda n: compiles(rank, n))
            run(0, "torch", "ingest", name)

        ingest("good", lambda rank, number: 2)
        run(0, "contract", "init")
        clauses = pathlib.Path(where, "stet.contract").read_text()
        assert clauses.count("in train.py at most 2 programs") == FUNCTIONS
        run(0, "check")
        # a clause without a file speaks of the function in any, and the first that fits counts
        lines = [line for line in clauses.splitlines() if "function_7 " not in line]
        pathlib.Path(where, "stet.contract").write_text("\n".join(lines + ["frame function_7 at most 1 programs", "frame function_7 in train.py at most 9 programs"]) + "\n")
        ingest("bad", lambda rank, number: 3 if (rank, number) == (1, 9999) else 2 if rank < 3 or number else 0)
        told = json.loads(run(1, "check", "--format=json"))["violations"]
        assert sorted((v["family"], v["clause"], v["rank"]) for v in told) == \
            [("function_7", "programs", rank) for rank in range(RANKS)] + [("function_9999", "programs", 1)], told

        os.mkdir(f"{where}/few")
        write_log(f"{where}/few/dedicated_log_torch_trace_rank_0_x.log", lambda number: 3, 2)
        run(0, "torch", "ingest", "few")
        for words in ("contract", "init"), ("check",):
            for n in range(100):
                if words[0] == "contract":
                    pathlib.Path(where, "stet.contract").unlink(missing_ok=True)
                done = subprocess.run([stet, *words], env={**env, "STET_TEST_FAIL_ALLOC": str(n)}, cwd=where, capture_output=True, text=True)
                assert done.returncode in (0, 1, 2, 3) and "Sanitizer" not in done.stderr, (words, n, done.returncode, done.stderr)
            if words[0] == "contract":
                pathlib.Path(where, "stet.contract").unlink(missing_ok=True)
                run(0, *words)


if __name__ == "__main__":
    main()
