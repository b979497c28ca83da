"""Whose store is loaded from: only one that nobody else can write to.

Some tests give files to another user, which needs root; the others run as anyone.
"""
import glob
import os
import subprocess
import time
import unittest

import attack

OTHER = 1001  # a user, and a group, that runs nothing here
SELF = os.geteuid()
needs_root = unittest.skipUnless(SELF == 0, "gives files to another user")
DROP = """
import os, sys
os.setgroups([])
os.setgid(int(sys.argv[1]))
os.setuid(int(sys.argv[1]))
os.execv(sys.argv[2], sys.argv[2:])
"""


class StoreOwner(attack.Case):
    def setUp(self):
        super().setUp()
        os.chmod(self.dir, 0o755)
        self.store = self.dir + "/way/store"
        os.makedirs(self.store, mode=0o700)
        self.assertEqual(self.compile(), [(0, "miss")])
        self.assertEqual(self.compile(), [(2, "hit")])

    def give(self, path, uid=OTHER, gid=OTHER):
        """The path and all below it."""
        for folder, folders, files in os.walk(path):
            for name in folders + files:
                os.lchown(os.path.join(folder, name), uid, gid)
        os.lchown(path, uid, gid)

    def modes(self, path, folder, file):
        for name in [path, *glob.glob(path + "/**", recursive=True)]:
            if not os.path.islink(name):
                os.chmod(name, folder if os.path.isdir(name) else file)

    def notes(self):
        return [r["text"] for r in self.records(f"{self.dir}/run{self.runs}")
                if r["record"] == "note" and r["name"] == "unsafe-folder"]

    def refused(self, *reasons, **env):
        """Nothing is loaded and nothing written; layer, journal and command line say why."""
        before = sorted(glob.glob(self.store + "/**", recursive=True))
        self.assertEqual(self.compile(**env), [(0, "unsafe-folder")])
        self.assertEqual(sorted(glob.glob(self.store + "/**", recursive=True)), before)
        (note,) = self.notes()
        listed = self.stet("cache", "ls", **env)
        self.assertEqual(listed.returncode, 3)
        run = self.stet("run", "--quiet", "--", "true", **env)
        self.assertEqual(run.returncode, 0)
        self.assertIn("the store is off", run.stderr)
        for reason in reasons:
            self.assertIn(reason, note)
            self.assertIn(reason, listed.stderr)
            self.assertIn(reason, run.stderr)

    @needs_root
    def test_the_folder_of_another_user_is_refused(self):
        self.give(self.store)
        for folder, file in ((0o755, 0o644), (0o700, 0o600), (0o750, 0o640)):
            self.modes(self.store, folder, file)
            self.refused("belongs to another user", f"owner {OTHER}", f"mode {folder:04o}", f"you are user {SELF}")

    @needs_root
    def test_a_folder_whose_top_alone_belongs_to_another_user_is_refused(self):
        os.chown(self.store, OTHER, OTHER)
        self.refused("belongs to another user")

    @needs_root
    def test_a_folder_that_a_foreign_group_can_write_to_is_refused(self):
        os.chown(self.store, SELF, OTHER)
        for mode in (0o770, 0o775, 0o2770):
            os.chmod(self.store, mode)
            self.refused("its group can write there", f"group {OTHER}")

    def test_a_folder_that_its_group_can_write_to_is_refused_unless_it_is_the_groups(self):
        os.chmod(self.store, 0o770)
        self.refused("its group can write there", "mode 0770")

    @needs_root
    def test_a_groups_folder_of_another_user_is_refused(self):
        """Whoever makes /scratch/stet first must not own everybody who is in the same group."""
        os.chown(self.store, OTHER, os.getegid())
        os.chmod(self.store, 0o2770)
        self.refused("belongs to another user")

    @needs_root
    def test_a_link_of_another_user_is_refused(self):
        """In a folder with the sticky bit, such as /tmp, its owner can turn it elsewhere at any time."""
        os.mkdir(self.dir + "/tmp")
        os.chmod(self.dir + "/tmp", 0o1777)
        real, self.store = self.store, self.dir + "/tmp/link"
        os.symlink(real, self.store)
        self.assertEqual(self.compile(), [(2, "hit")])  # one's own link
        os.lchown(self.store, OTHER, OTHER)
        self.refused("a link of another user")
        os.chmod(self.dir + "/tmp", 0o755)  # where its owner can't
        self.assertEqual(self.compile(), [(2, "hit")])

    @needs_root
    def test_a_link_to_the_folder_of_another_user_is_refused(self):
        self.give(self.store)
        real, self.store = self.store, self.dir + "/link"
        os.symlink(real, self.store)
        self.refused("belongs to another user", "way/store")

    def test_links_in_a_circle_are_refused(self):
        self.store = self.dir + "/link"
        os.symlink(self.store, self.store)
        self.refused("leads nowhere")

    def test_a_parent_that_anyone_can_write_to_is_refused(self):
        os.chmod(self.dir + "/way", 0o777)
        self.refused("anyone can replace what is in this folder", "way", "mode 0777")
        os.chmod(self.dir + "/way", 0o1777)  # as /tmp: only owners may move what is in it
        self.assertEqual(self.compile(), [(2, "hit")])

    def test_folders_inside_that_anyone_can_write_to_are_refused(self):
        for name in ("entries", "files", "programs", "quarantine", "orders"):
            with self.subTest(name):
                os.makedirs(f"{self.store}/{name}", exist_ok=True)
                os.chmod(f"{self.store}/{name}", 0o777)
                self.refused("anyone can write there", f"store/{name}")
                os.chmod(f"{self.store}/{name}", 0o700)
        self.assertEqual(self.compile(), [(2, "hit")])

    def test_a_folder_inside_that_is_a_link_is_refused(self):
        os.rename(self.store + "/entries", self.dir + "/elsewhere")
        os.symlink(self.dir + "/elsewhere", self.store + "/entries")
        self.refused("not a folder", "store/entries")

    def test_entries_in_a_folder_that_anyone_can_write_to_are_not_loaded(self):
        (entry,) = self.entries()
        os.chmod(os.path.dirname(entry), 0o777)
        self.assertEqual(self.compile(), [(0, "unsafe-folder")])

    @needs_root
    def test_an_entry_of_another_user_is_not_loaded(self):
        (entry,) = self.entries()
        os.chown(entry, OTHER, OTHER)
        self.assertEqual(self.compile(), [(0, "unsafe-folder")])
        self.assertEqual(self.stet("cache", "verify").returncode, 1)
        exported = self.stet("cache", "export", "--unsigned", self.dir + "/archive")
        self.assertIn("0 entries", exported.stdout)  # another user's code is not passed on as one's own

    def test_an_entry_that_others_can_write_is_not_loaded(self):
        (entry,) = self.entries()
        for mode in (0o602, 0o620):
            os.chmod(entry, mode)
            self.assertEqual(self.compile(), [(0, "unsafe-folder")])
        os.chmod(entry, 0o644)  # read, they may
        self.assertEqual(self.compile(), [(2, "hit")])

    def test_an_entry_that_is_a_link_is_not_loaded(self):
        (entry,) = self.entries()
        os.rename(entry, self.dir + "/elsewhere")
        os.symlink(self.dir + "/elsewhere", entry)
        self.assertEqual(self.compile()[0][0], 0)

    @needs_root
    def test_a_folder_that_another_user_made_before_the_first_entry_was_put_gets_none(self):
        """Not there when the process starts, and made by somebody else while it compiles."""
        theirs = self.store
        self.give(theirs)
        self.store = self.dir + "/late"
        program = self.file("late.mlir", attack.program())
        host = subprocess.Popen([attack.HARNESS, attack.FAKE, program], stdout=subprocess.DEVNULL,
                                env=self.environment(LD_PRELOAD=attack.LAYER, STET_DIR=self.dir + "/late-run",
                                                     HARNESS_UNTIL="PJRT_Client_Create=1",
                                                     FAKE_COMPILE_UNTIL=self.dir + "/made"))
        while not glob.glob(self.dir + "/late-run/journal/*"):
            self.assertIsNone(host.poll())
            time.sleep(0.02)
        os.rename(theirs, self.store)
        self.file("made", "")
        self.assertEqual(host.wait(60), 0)
        (end,) = [r for r in self.records(self.dir + "/late-run") if r["record"] == "compile_end"]
        self.assertEqual(end.get("served", 0), 0)
        stored = [r for r in self.records(self.dir + "/late-run") if r["record"] == "stored"]
        self.assertEqual([r.get("bytes", 0) for r in stored], [0] * len(stored))

    @needs_root
    def test_owners_who_are_named_are_trusted(self):
        """A mount of the host's store in a container, or an NFS server that maps root to nobody."""
        self.give(self.store)
        self.refused("belongs to another user", STET_STORE_OWNERS="1002")
        self.assertEqual(self.compile(STET_STORE_OWNERS=f"1002,{OTHER}"), [(2, "hit")])
        os.chmod(self.store, 0o777)
        self.refused("anyone can write there", STET_STORE_OWNERS=str(OTHER))

    @needs_root
    def test_a_store_asked_for_as_read_only_may_belong_to_another_user(self):
        self.give(self.store)
        self.modes(self.store, 0o755, 0o644)
        read_only = dict(STET_STORE_MODE="read-only")
        self.assertEqual(self.compile(**read_only), [(2, "hit")])
        (entry,) = self.entries()
        os.chown(entry, OTHER + 1, OTHER)  # but not to two
        self.assertEqual(self.compile(**read_only), [(0, "unsafe-folder")])
        os.chown(entry, OTHER, OTHER)
        for mode in (0o775, 0o777):
            os.chmod(self.store, mode)
            self.refused("can write there", **read_only)

    @needs_root
    def test_members_of_a_group_share_a_store_of_root(self):
        """The documented way: root makes the folder, members write to it, outsiders can't plant anything."""
        self.give(self.store, 0, OTHER)
        self.modes(self.store, 0o2770, 0o660)
        (entry,) = self.entries()
        os.chown(entry, 1002, OTHER)  # another member's

        def as_member(uid):
            folder = f"{self.dir}/run-{uid}"
            os.makedirs(folder)
            os.chown(folder, uid, uid)
            program = self.file("member.mlir", attack.program())
            subprocess.run(["python3", "-c", DROP, str(uid), attack.HARNESS, attack.FAKE, program], check=True,
                           stdout=subprocess.DEVNULL, timeout=60,
                           env=self.environment(LD_PRELOAD=attack.LAYER, STET_DIR=folder))
            return [(r.get("served", 0), r.get("store")) for r in self.records(folder) if r["record"] == "compile_end"]

        if subprocess.run(["python3", "-c", DROP, str(OTHER), "/bin/ls", attack.FAKE], stdout=subprocess.DEVNULL).returncode:
            self.skipTest("another user can't read the build")
        self.assertEqual(as_member(OTHER), [(2, "hit")])
        self.assertEqual(as_member(1003), [(0, "unsafe-folder")])


if __name__ == "__main__":
    attack.main()
