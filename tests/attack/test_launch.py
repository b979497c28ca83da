"""How `stet run` starts a command where the machine is short of something, and what it says about it."""
import glob
import json
import os
import resource
import shutil
import socket
import subprocess

import attack


class Launch(attack.Case):
    def installed(self, name):
        """A copy of the installation below a folder of that name."""
        place = os.path.join(self.dir, name)
        os.makedirs(place + "/bin")
        shutil.copy(attack.STET, place + "/bin/stet")
        os.mkdir(place + "/lib")
        for library in ("libstet.so", "libstet_cpu.so"):
            if os.path.exists(f"{attack.BUILD}/lib/{library}"):
                shutil.copy(f"{attack.BUILD}/lib/{library}", place + "/lib/" + library)
        return place + "/bin/stet"

    def run_in(self, stet, *words, **env):
        return subprocess.run([stet, *words], env=self.environment(**env), capture_output=True, text=True, timeout=60, cwd=self.dir)

    def test_stet_runs_below_a_path_with_a_blank_or_a_colon(self):
        program = self.file("p.mlir", attack.program())
        for name in ("with blank", "with:colon", "with,comma", "with$ORIGIN"):
            stet = self.installed(name)
            done = self.run_in(stet, "run", "--", "sh", "-c", 'echo "$LD_PRELOAD"; exec "$@"', "sh", attack.HARNESS, attack.FAKE, program)
            self.assertEqual(done.returncode, 0, done)
            self.assertIn("1 compile", done.stderr, name)
            self.assertNotIn("cannot be preloaded", done.stderr)
            preload = done.stdout.splitlines()[0]
            for part in preload.replace(":", " ").split():
                self.assertTrue(part.startswith("/") and os.path.exists(part), preload)

    def test_no_part_of_such_a_path_is_looked_up_in_the_working_folder(self):
        """The second half of `a b/lib/libstet.so` would be b/lib/libstet.so of whatever folder a process is in."""
        stet = self.installed("a b")
        self.assertEqual(self.run_in(stet, "run", "--quiet", "--", "true", STET_STATE_DIR=self.dir + "/st:ate").returncode, 0)
        done = self.run_in(stet, "run", "--", "sh", "-c", 'echo "preload=$LD_PRELOAD"', STET_STATE_DIR=self.dir + "/st ate")
        self.assertEqual(done.stdout, "preload=\n")
        self.assertIn("running the command without the layer", done.stderr)
        self.assertIn("set STET_STATE_DIR", done.stderr)

    def test_the_dump_folder_has_no_blank(self):
        done = self.run_in(attack.STET, "run", "--", "sh", "-c", 'echo "flags=$XLA_FLAGS"', STET_STATE_DIR=self.dir + "/st ate",
                           JAX_PLATFORMS="cpu")
        self.assertEqual(done.stdout, "flags=\n")
        self.assertIn("XLA_FLAGS cannot name a folder with a blank", done.stderr)

    def test_a_state_folder_that_cannot_be_written_names_the_way_out(self):
        for words in (["run"], ["run", "--cpu"]):
            done = self.stet(*words, "--", "echo", "ran", STET_STATE_DIR="/proc/nowhere")
            self.assertIn("set STET_STATE_DIR to a folder that can be written", done.stderr)
        self.assertEqual(self.stet("run", "--", "echo", "ran", STET_STATE_DIR="/proc/nowhere").stdout, "ran\n")

    def test_few_descriptors_are_named(self):
        program = self.file("p.mlir", attack.program())
        done = subprocess.run([attack.STET, "run", "--", attack.HARNESS, attack.FAKE, program], env=self.environment(),
                              capture_output=True, text=True, timeout=60, cwd=self.dir,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("a process may open only 32 files here, so the layer recorded nothing", done.stderr)
        self.assertNotIn("--cpu", done.stderr)

    def test_a_full_disk_is_named(self):
        place = self.dir + "/small"
        os.mkdir(place)
        # a mount of its own, in a namespace of its own; the command fills it
        script = f"""mount -t tmpfs -o size=256k none {place} &&
            {attack.STET} run -- sh -c 'head -c 300k /dev/zero > {place}/filler 2> /dev/null; exec "$@"' sh {attack.HARNESS} {attack.FAKE} "$0" """
        program = self.file("p.mlir", attack.program())
        done = subprocess.run(["unshare", "-rm", "sh", "-c", script, program], capture_output=True, text=True, timeout=60, cwd=self.dir,
                              env=self.environment(STET_STATE_DIR=place + "/state"))
        if "unshare" in done.stderr or "mount:" in done.stderr:
            self.skipTest("no user namespaces here")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the disk is full, so the layer recorded nothing", done.stderr)
        self.assertNotIn("--cpu", done.stderr)

    def test_a_failed_command_is_not_advised_to_use_cpu(self):
        done = self.stet("run", "--", "sh", "-c", "exit 2")
        self.assertIn("the command failed (exit 2) before it compiled anything", done.stderr)
        self.assertNotIn("--cpu", done.stderr)

    def test_a_run_with_cpu_is_not_advised_to_use_cpu(self):
        done = self.stet("run", "--cpu", "--", "true")
        if "is not beside this executable" in done.stderr:
            self.skipTest("the backend is not built")
        self.assertIn("no process of the command used the CPU backend", done.stderr)
        self.assertNotIn("--cpu", done.stderr)

    def test_any_number_of_days_keeps_what_is_younger(self):
        for _ in range(2):
            self.assertEqual(self.stet("run", "--quiet", "--", "true").returncode, 0)
        for days in ("1", "106751", "200000", "213504", "18446744073709551615", "99999999999999999999999"):
            self.assertIn("0 runs deleted", self.stet("runs", "--prune=" + days).stdout, days)
        path = glob.glob(self.dir + "/state/runs/*/run.json")[0]
        with open(path) as f:
            run = json.load(f)
        for key in ("started_ns", "ended_ns"):
            run[key] -= 3 * 86400 * 10**9
        with open(path, "w") as f:
            json.dump(run, f)
        self.assertIn("0 runs deleted", self.stet("runs", "--prune=4d").stdout)
        self.assertIn("1 run deleted", self.stet("runs", "--prune=2").stdout)

    def test_pages_of_other_sites_cannot_read_metrics(self):
        reader, writer = os.pipe()
        run = subprocess.Popen([attack.STET, "run", "--metrics-port=0", "--metrics-host=trainer.example", "--", "cat"], stdin=reader,
                               stderr=subprocess.PIPE, text=True, env=self.environment(), cwd=self.dir)
        os.close(reader)
        try:
            line = run.stderr.readline()
            port = int(line.rsplit(":", 1)[1].split("/")[0])

            def ask(host):
                with socket.create_connection(("127.0.0.1", port), timeout=60) as s:
                    s.sendall(f"GET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
                    answer = b""
                    while part := s.recv(65536):
                        answer += part
                return answer

            for host in (f"127.0.0.1:{port}", f"localhost:{port}", "trainer.example", "[::1]:1"):
                self.assertTrue(ask(host).startswith(b"HTTP/1.1 200 "), host)
            for host in ("evil.example", f"evil.example:{port}", "localhost.evil.example"):
                answer = ask(host)
                self.assertTrue(answer.startswith(b"HTTP/1.1 421 "), host)
                self.assertNotIn(b"stet_run", answer)
        finally:
            os.close(writer)
            run.stderr.read()
            run.stderr.close()
            self.assertEqual(run.wait(30), 0)


attack.main()
