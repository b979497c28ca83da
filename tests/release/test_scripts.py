#!/usr/bin/env python3
"""tools/fetch-source.sh, sbom.py, make-deb.py, setup-debian.sh and the prerequisites of a build, each over a small tree."""

import gzip
import hashlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def run(*command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)


class FetchSource(Scratch):
    """A tree with one pinned archive, which the source distribution would carry."""

    def setUp(self):
        super().setUp()
        (self.dir / "tools").mkdir()
        (self.dir / "third_party").mkdir()
        shutil.copy(ROOT / "tools/fetch-source.sh", self.dir / "tools")
        self.archive = self.dir / "third_party/lib_1.orig.tar.gz"
        with tarfile.open(self.archive, "w:gz") as tar:
            info = tarfile.TarInfo("lib-1/lib.c")
            info.size = 5
            tar.addfile(info, io.BytesIO(b"int x"))
        self.pin(hashlib.sha256(self.archive.read_bytes()).hexdigest())

    def pin(self, sha256):
        line = f"lib 1 debian lib {self.archive.name} MIT {sha256}\n"
        (self.dir / "tools/third-party.txt").write_text(line)

    def fetch(self, name="lib"):
        return run(self.dir / "tools/fetch-source.sh", name, self.dir / "out")

    def test_a_carried_archive_is_unpacked(self):
        self.assertEqual(0, self.fetch().returncode)
        self.assertEqual("int x", (self.dir / "out/lib.c").read_text())

    def test_an_xz_archive_needs_no_xz(self):
        self.archive = self.archive.with_suffix(".xz")
        with tarfile.open(self.archive, "w:xz") as tar:
            info = tarfile.TarInfo("lib-1/configure")
            info.mode = 0o755
            tar.addfile(info)
        self.pin(hashlib.sha256(self.archive.read_bytes()).hexdigest())
        tools = self.dir / "bin"
        tools.mkdir()
        for tool in ("bash", "awk", "flock", "mktemp", "sha256sum", "cut", "tar", "cmake", "dirname", "mkdir", "rm", "mv"):
            (tools / tool).symlink_to(shutil.which(tool))
        got = run(self.dir / "tools/fetch-source.sh", "lib", self.dir / "out", env={**os.environ, "PATH": str(tools)})
        self.assertEqual(0, got.returncode, got.stderr)
        self.assertTrue(os.access(self.dir / "out/configure", os.X_OK))

    def test_an_archive_of_several_folders_is_refused(self):
        with tarfile.open(self.archive, "w:gz") as tar:
            for name in ("a/x", "b/x"):
                tar.addfile(tarfile.TarInfo(name))
        self.pin(hashlib.sha256(self.archive.read_bytes()).hexdigest())
        got = self.fetch()
        self.assertEqual(1, got.returncode)
        self.assertIn("more than one folder", got.stderr)
        self.assertFalse((self.dir / "out").exists())

    def test_a_debian_package_is_unpacked(self):
        (self.dir / "package/DEBIAN").mkdir(parents=True)
        (self.dir / "package/DEBIAN/control").write_text(
            "Package: lib\nVersion: 1\nArchitecture: all\nMaintainer: x <x@example.org>\nDescription: x\n")
        (self.dir / "package/usr").mkdir()
        (self.dir / "package/usr/lib.c").write_text("int x")
        self.archive = self.dir / "third_party/lib_1_all.deb"
        self.assertEqual(0, run("dpkg-deb", "--build", self.dir / "package", self.archive).returncode)
        self.pin(hashlib.sha256(self.archive.read_bytes()).hexdigest())
        self.assertEqual(0, self.fetch().returncode)
        self.assertEqual("int x", (self.dir / "out/usr/lib.c").read_text())

    def test_another_checksum_is_refused(self):
        self.pin("0" * 64)
        got = self.fetch()
        self.assertEqual(1, got.returncode)
        self.assertIn("expected " + "0" * 64, got.stderr)
        self.assertFalse((self.dir / "out").exists())

    def test_a_changed_pin_replaces_what_was_unpacked(self):
        self.fetch()
        (self.dir / "out/lib.c").write_text("changed")
        self.fetch()
        self.assertEqual("changed", (self.dir / "out/lib.c").read_text())
        (self.dir / "out/.fetched").write_text("lib 0 other\n")
        self.fetch()
        self.assertEqual("int x", (self.dir / "out/lib.c").read_text())

    def test_a_folder_of_others_is_left_alone(self):
        (self.dir / "out").mkdir()
        got = self.fetch()
        self.assertEqual(1, got.returncode)
        self.assertIn("name another directory", got.stderr)

    def test_an_unknown_name_is_an_error(self):
        got = self.fetch("nothing")
        self.assertEqual(1, got.returncode)
        self.assertIn("third-party.txt has no nothing", got.stderr)


class Pins(unittest.TestCase):
    def pins(self):
        lines = (ROOT / "tools/third-party.txt").read_text().splitlines()
        return [line.split() for line in lines if line and not line.startswith("#")]

    def test_every_linked_source_has_its_licence_in_the_tree(self):
        for name, *_ in self.pins():
            if name != "curl":  # headers only
                self.assertTrue((ROOT / f"licenses/{name}.txt").exists(), name)

    def test_the_sbom_lists_every_pin_and_repeats_itself(self):
        first, second = (run(ROOT / "tools/sbom.py", env={**os.environ, "SOURCE_DATE_EPOCH": "1"}).stdout for _ in "12")
        self.assertEqual(first, second)
        bom = json.loads(first)
        self.assertEqual("CycloneDX", bom["bomFormat"])
        listed = {(c["name"], c["version"], c["hashes"][0]["content"]) for c in bom["components"]}
        self.assertEqual({(p[0], p[1], p[6]) for p in self.pins()}, listed)
        linked = next(d for d in bom["dependencies"] if "stet-cli" in d["ref"])["dependsOn"]
        self.assertEqual(len(self.pins()) - 1, len(linked))


class MakeDeb(Scratch):
    def make(self, name):
        wheel = self.dir / "stet_cli-0.1.0-py3-none-manylinux_2_28_aarch64.whl"
        with zipfile.ZipFile(wheel, "w") as z:
            data = "stet_cli-0.1.0.data/"
            z.writestr(data + "scripts/stet", "program")
            z.writestr(data + "data/lib/libstet.so", "layer")
            z.writestr(data + "data/share/man/man1/stet.1", "manual")
            z.writestr("stet_cpu/__init__.py", "")
            z.writestr("stet_cli-0.1.0.dist-info/licenses/LICENSE", "licence")
        out = self.dir / name
        out.mkdir()
        got = run(ROOT / "tools/make-deb.py", wheel, out, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
        self.assertEqual(0, got.returncode, got.stderr)
        return next(out.iterdir())

    def test_the_files_of_a_wheel_are_below_usr(self):
        package = self.make("a")
        self.assertEqual("stet_0.1.0_arm64.deb", package.name)
        run("dpkg-deb", "-x", package, self.dir / "root")
        root = self.dir / "root/usr"
        self.assertTrue(os.access(root / "bin/stet", os.X_OK))
        self.assertEqual("layer", (root / "lib/libstet.so").read_text())
        self.assertEqual("licence", (root / "share/doc/stet/copyright").read_text())
        self.assertEqual(b"manual", gzip.decompress((root / "share/man/man1/stet.1.gz").read_bytes()))
        self.assertFalse(list(root.rglob("*.py")))

    def test_the_same_wheel_makes_the_same_bytes(self):
        self.assertEqual(self.make("a").read_bytes(), self.make("b").read_bytes())


class Packages(unittest.TestCase):
    def test_a_purpose_that_is_not_listed_is_named(self):
        got = run(ROOT / "tools/setup-debian.sh", "nonsense")
        self.assertEqual(1, got.returncode)
        self.assertIn("packages.txt has no [nonsense]", got.stderr)

    def test_the_demo_needs_no_browser_server_or_second_compiler(self):
        text = (ROOT / "tools/packages.txt").read_text()
        build = text.split("[build]", 1)[1].split("\n[", 1)[0]
        for heavy in ("chromium", "prometheus", "nginx", "clang", "npm"):
            self.assertNotIn(heavy, build)


class Requirements(unittest.TestCase):
    def test_the_demo_has_the_versions_of_the_tests(self):
        pins = {name: {line for line in (ROOT / f"tools/requirements/{name}.txt").read_text().splitlines() if "==" in line}
                for name in ("demo", "jax")}
        self.assertTrue(pins["demo"])
        self.assertEqual(pins["demo"] - pins["jax"], set())


class Prerequisites(Scratch):
    def configure(self, *arguments, path=os.environ["PATH"]):
        environment = {**os.environ, "PATH": path, "CC": "no-such-gcc"}  # as a build by pip sets it
        environment.pop("CMAKE_C_COMPILER_LAUNCHER", None)  # not in `path`
        return run(shutil.which("cmake"), "-S", ROOT, "-B", self.dir, "-G", "Ninja",
                   "-DCMAKE_MAKE_PROGRAM=" + shutil.which("ninja"), *arguments, env=environment)

    def test_a_missing_compiler_is_named(self):
        got = self.configure("-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF", path="/nonexistent")
        self.assertNotEqual(0, got.returncode)
        self.assertIn("has no C compiler", got.stderr)
        self.assertIn("apt-get install gcc libc6-dev make", got.stderr)

    def test_missing_libraries_are_named_together(self):
        got = self.configure(f"-DSTET_LIBRARIES={self.dir}", "-DSKBUILD=ON")
        self.assertNotEqual(0, got.returncode)
        self.assertIn("libzstd-dev zlib1g-dev", got.stderr)
        self.assertIn("libcurl4-openssl-dev", got.stderr)

    def test_libraries_that_cannot_be_built_give_the_reason(self):
        """A system with a compiler, and neither the libraries nor make."""
        tools = self.dir / "bin"
        tools.mkdir()
        for tool in ("bash", "sh", "cc", "as", "ld", "ar", "dirname", "mkdir", "sed"):
            (tools / tool).symlink_to(shutil.which(tool))
        got = self.configure("-DSTET_FETCH_LIBRARIES=ON", "-DSKBUILD=ON", "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF",
                             "-DCMAKE_LIBRARY_ARCHITECTURE=none", path=str(tools))
        self.assertNotEqual(0, got.returncode)
        self.assertIn("build-libraries: make is not installed", got.stderr)
        self.assertIn("Stet's libraries could not be built; the reason is above.", got.stderr)


class Reproduce(Scratch):
    """reproduce.sh over a repository whose release is one file."""

    def reproduce(self, release):
        git = ("git", "-C", self.dir / "tree", "-c", "user.name=a", "-c", "user.email=a@b")
        (self.dir / "tree/tools").mkdir(parents=True)
        shutil.copy(ROOT / "tools/reproduce.sh", self.dir / "tree/tools")
        script = self.dir / "tree/tools/release.sh"
        script.write_text('#!/bin/bash -e\ncd "$(dirname "$0")/.."\nmkdir dist\n' + release +
                          "\ncd dist && sha256sum a >SHA256SUMS\n")
        script.chmod(0o755)
        for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
            self.assertEqual(0, run(*git, *command).returncode)
        commit = " ".join(f"'{c}'" for c in git) + " commit -qam other"
        return run(self.dir / "tree/tools/reproduce.sh", env=os.environ | {
            "STET_RELEASE_ENV": str(self.dir), "TMPDIR": str(self.dir), "COMMIT": commit, "TREE": str(self.dir / "tree")})

    def test_the_same_bytes_are_kept(self):
        done = self.reproduce("cp tools/release.sh dist/a")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertTrue((self.dir / "tree/dist/a").is_file())

    def test_the_folder_in_a_file_is_noticed(self):
        done = self.reproduce("pwd >dist/a")
        self.assertEqual(1, done.returncode)
        self.assertIn("the two differ", done.stderr)
        self.assertFalse((self.dir / "tree/dist").exists())

    def test_a_commit_meanwhile_changes_nothing(self):
        done = self.reproduce('cp tools/release.sh dist/a; echo "# later" >>"$TREE/tools/release.sh"; eval "$COMMIT"')
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
