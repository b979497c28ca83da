"""`stet cache verify` loads no library but the build that the entry was made with, and none that others can write."""
import json
import os
import shutil
import unittest

import attack

OTHER = 1001
LONGER = attack.BUILD + "/lib/libfake_pjrt_longer.so"
needs_root = unittest.skipUnless(os.geteuid() == 0, "gives files to another user")


class StoreVerify(attack.Case):
    def setUp(self):
        super().setUp()
        os.chmod(self.dir, 0o755)
        self.builder = self.dir + "/builder"
        self.plugin = self.builder + "/plugin.so"
        os.mkdir(self.builder, 0o755)
        shutil.copy(attack.FAKE, self.plugin)
        self.assertEqual(self.compile(plugin=self.plugin), [(0, "miss")])
        self.assertEqual(self.verify(), (0, ["loaded"], 0))

    def verify(self, **env):
        """The exit code, a verdict for each entry, and how many were not tried."""
        done = self.stet("cache", "verify", "--format=json", **env)
        answer = json.loads(done.stdout)
        self.details = [check["detail"] for check in answer["checks"]]
        return done.returncode, [check["verdict"] for check in answer["checks"]], answer.get("not_tried", 0)

    def test_another_library_at_the_path_is_not_loaded(self):
        shutil.copy(LONGER, self.plugin + ".new")
        os.rename(self.plugin + ".new", self.plugin)
        self.assertEqual(self.verify(), (1, ["another build of the plugin is installed"], 1))

    def test_entries_that_were_not_tried_do_not_count_as_failures(self):
        self.assertEqual(self.compile(plugin=LONGER), [(0, "miss")])
        shutil.copy(LONGER, self.plugin)
        code, verdicts, not_tried = self.verify()
        self.assertEqual((code, sorted(verdicts), not_tried), (0, ["another build of the plugin is installed", "loaded"], 1))
        self.assertIn("1 of 2 entries loaded back, 1 not tried", self.stet("cache", "verify").stdout)

    def test_a_library_that_is_missing_or_not_a_library_is_not_loaded(self):
        os.unlink(self.plugin)
        self.assertEqual(self.verify(), (1, ["its plugin is gone"], 1))
        os.mkfifo(self.plugin)
        self.assertEqual(self.verify()[2], 1)

    @needs_root
    def test_the_library_of_another_user_is_not_loaded(self):
        os.chown(self.plugin, OTHER, OTHER)
        self.assertEqual(self.verify(), (1, ["its plugin is not loaded"], 1))
        self.assertIn(f"plugin.so: belongs to another user (owner {OTHER}", self.details[0])
        self.assertEqual(self.verify(STET_STORE_OWNERS=str(OTHER))[1], ["loaded"])

    @needs_root
    def test_a_library_in_the_folder_of_another_user_is_not_loaded(self):
        os.chown(self.builder, OTHER, OTHER)
        self.assertEqual(self.verify(), (1, ["its plugin is not loaded"], 1))
        self.assertIn("builder: belongs to another user", self.details[0])

    def test_a_library_that_anyone_can_write_is_not_loaded(self):
        for path in (self.plugin, self.builder):
            mode = os.stat(path).st_mode & 0o777
            os.chmod(path, 0o777)
            self.assertEqual(self.verify(), (1, ["its plugin is not loaded"], 1))
            os.chmod(path, mode)

    @needs_root
    def test_a_library_that_a_foreign_group_can_write_is_not_loaded(self):
        os.chown(self.plugin, 0, OTHER)
        os.chmod(self.plugin, 0o775)
        self.assertEqual(self.verify(), (1, ["its plugin is not loaded"], 1))


if __name__ == "__main__":
    attack.main()
