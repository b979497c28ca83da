"""A load that never comes back: after two launches that ended in it, the program is compiled."""
import glob
import subprocess
import time

import attack

HANGING = dict(FAKE_HANG="PJRT_Executable_DeserializeAndLoad", STET_STORE_LOAD_MS="300")


class StoreHang(attack.Case):
    def strikes(self):
        return len(glob.glob(self.store + "/quarantine/*.strike-*"))

    def launch_and_kill(self, strikes, **env):
        """A launch that hangs in the load, until that was noted; then it is killed."""
        program = self.file("program0.mlir", attack.program())
        host = subprocess.Popen([attack.HARNESS, attack.FAKE, program], stdout=subprocess.DEVNULL,
                                env=self.environment(LD_PRELOAD=attack.LAYER, STET_DIR=self.dir + "/hanging", **env))
        self.addCleanup(host.kill)
        end = time.monotonic() + 60
        while self.strikes() < strikes and host.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        self.assertIsNone(host.poll())
        self.assertEqual(self.strikes(), strikes)
        host.kill()
        host.wait()

    def test_the_third_launch_compiles_what_two_could_not_load(self):
        env = dict(HANGING, STET_STORE_AHEAD="off")
        self.assertEqual(self.compile(), [(0, "miss")])
        self.launch_and_kill(1, **env)
        self.launch_and_kill(2, **env)
        self.assertEqual(self.compile(**env), [(0, "condemned")])
        (entry,) = self.entries()
        self.assertEqual(self.stet("cache", "rm", entry[-37:-5]).returncode, 0)
        self.assertEqual(self.compile(), [(0, "miss")])
        self.assertEqual(self.compile(), [(2, "hit")])

    def test_a_launch_does_not_wait_for_what_hangs_while_it_is_loaded_ahead(self):
        """The hang is on a thread of the layer's, so even the first launch compiles, and ends."""
        ahead = dict(STET_STORE_LOAD_MS="300", FAKE_LOAD_MS="600000")
        self.assertEqual(self.compile(), [(0, "miss")])
        for strikes in (1, 2):
            self.assertEqual(self.compile(HARNESS_UNTIL="PJRT_Executable_DeserializeAndLoad=1", **ahead),
                             [(0, "load-stuck")])
            self.assertEqual(self.strikes(), strikes)
        self.assertEqual(self.compile(**ahead), [(0, "condemned")])

    def test_a_client_is_destroyed_while_a_load_for_it_hangs(self):
        """Another program is asked for than the one whose load hangs, so nobody waits for that."""
        self.assertEqual(self.compile(), [(0, "miss")])
        self.assertEqual(self.compile(attack.program("multiply"), STET_STORE_LOAD_MS="300", FAKE_LOAD_MS="600000",
                                      HARNESS_UNTIL="PJRT_Executable_DeserializeAndLoad=1"), [(0, "miss")])

    def test_a_slow_load_that_returns_does_not_count_as_a_strike(self):
        slow = dict(FAKE_LOAD_MS="2500", STET_STORE_LOAD_MS="200", STET_STORE_AHEAD="off")
        self.assertEqual(self.compile(), [(0, "miss")])
        self.assertEqual(self.compile(**slow), [(2, "hit")])
        self.assertEqual(self.strikes(), 0)


if __name__ == "__main__":
    attack.main()
