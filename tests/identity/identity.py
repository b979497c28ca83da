"""Facts about identity under the real JAX: what must not matter does not, and each single change
moves exactly its facet.

usage: identity.py BUILD_DIR JAX_PYTHON
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

BUILD, PYTHON = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
STET = os.path.join(BUILD, "bin", "stet")
HERE = os.path.dirname(os.path.abspath(__file__))


def stet(*args):
    done = subprocess.run([STET, *args, "--format=json"], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, whole bytes, payload or None) of each field; None when it is no message."""
    found, at = [], 0
    try:
        while at < len(data):
            start = at
            tag, at = varint(data, at)
            payload = None
            if tag & 7 == 0:
                _, at = varint(data, at)
            elif tag & 7 in (1, 5):
                at += 8 if tag & 7 == 1 else 4
            elif tag & 7 == 2:
                size, at = varint(data, at)
                payload = data[at:at + size]
                at += size
            else:
                return None
            if at > len(data) or tag >> 3 == 0:
                return None
            found.append((tag >> 3, data[start:at], payload))
    except IndexError:
        return None
    return found


def encode(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def reordered(data):
    """The same message with the entries of the map lower.py filled in the opposite order, as another
    process may write it: protobuf's maps have no order."""
    found = fields(data)
    if not found:
        return data
    entries = [w for _, w, p in found if p and b"stet_" in p[:16] and p[0] == 10]
    if len(entries) > 1:
        turned = iter(reversed(entries))
        return b"".join(next(turned) if w in entries else w for _, w, _ in found)
    out = b""
    for number, whole, payload in found:
        inner = reordered(payload) if payload and b"stet_" in payload else payload
        out += whole if inner == payload else encode(number << 3 | 2) + encode(len(inner)) + inner
    return out


class Identity(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="stet-identity-")
        cls.made, cls.lowered = 0, {}
        cls.base = cls.lower()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def lower(cls, *knobs, folder="here", lines=0, **env):
        """A program and its options, lowered in a process of its own; the same again when asked for again."""
        what = (knobs, folder, lines, tuple(env.items()))
        if what not in cls.lowered:
            cls.lowered[what] = cls.really_lower(*knobs, folder=folder, lines=lines, **env)
        return cls.lowered[what]

    @classmethod
    def really_lower(cls, *knobs, folder, lines, **env):
        where = os.path.join(cls.folder.name, folder)
        os.makedirs(where, exist_ok=True)
        with open(os.path.join(HERE, "lower.py"), encoding="utf-8") as f:
            text = f.read().replace("#LINES", "# a comment\n" * lines)
        script = os.path.join(where, "train.py")
        with open(script, "w", encoding="utf-8") as f:
            f.write(text)
        cls.made += 1
        out = os.path.join(cls.folder.name, f"{cls.made}.mlirbc")
        subprocess.run([PYTHON, script, out, *knobs], check=True, env=dict(os.environ, **env))
        return out

    @staticmethod
    def options(program):
        return program.replace(".mlirbc", ".options")

    def identity(self, program):
        answer = stet("fingerprint", "--options=" + self.options(program), program)
        return answer["programs"][0]

    def moved(self, *knobs):
        """The facets one change moves, those that follow from another left out, and the class."""
        other = self.lower(*knobs)
        a, b = self.identity(self.base), self.identity(other)
        digests = {f for f in a["facets"] if a["facets"][f] != b["facets"][f]}
        answer = stet("diff", "--options-a=" + self.options(self.base),
                      "--options-b=" + self.options(other), self.base, other)
        told = {f for f, state in answer["facets"].items() if state == "moved"}
        self.assertEqual(digests, told)
        self.assertTrue(answer["same_skeleton"])
        return told - set(answer["follows"]), answer

    def test_irrelevant_differences_do_not_change_the_key(self):
        base = self.identity(self.base)
        self.assertNotEqual(base["key"], "0" * 32)
        for program in (
            self.lower(folder="another/folder"),
            self.lower(lines=7),
            self.lower(PYTHONHASHSEED="12345"),
            self.lower(PYTHONHASHSEED="54321"),
        ):
            got = self.identity(program)
            self.assertEqual(base["key"], got["key"])
            self.assertEqual(base["skeleton"], got["skeleton"])
            self.assertEqual(base["facets"], got["facets"])

    @classmethod
    def lower_with_reordered_options(cls):
        other = cls.really_lower(folder="here", lines=0)
        with open(cls.options(other), "rb") as f:
            written = f.read()
        turned = reordered(written)
        assert written != turned and len(written) == len(turned)
        with open(cls.options(other), "wb") as f:
            f.write(turned)
        return other

    def served(self, program):
        """How the layer's store serves it, over a plugin that compiles anything."""
        with tempfile.TemporaryDirectory(dir=self.folder.name) as run:
            env = dict(os.environ, LD_PRELOAD=BUILD + "/lib/libstet.so", STET_DIR=run, STET_STORE=self.folder.name + "/store")
            for name in ("STET", "STET_RUN", "STET_PLUGIN", "STET_STORE_MODE"):
                env.pop(name, None)
            subprocess.run([BUILD + "/bin/pjrt_harness", "--execute", "0", "--options", self.options(program),
                            BUILD + "/lib/libfake_pjrt.so", program], check=True, env=env, stdout=subprocess.DEVNULL)
            dump = subprocess.run([BUILD + "/bin/journal_dump", run], check=True, capture_output=True, text=True).stdout
        (end,) = (r for r in map(json.loads, dump.splitlines()) if r["record"] == "compile_end")
        return end.get("served", 0), end["store"]

    def test_the_store_serves_what_is_the_same_and_nothing_else(self):
        self.assertEqual(self.served(self.base), (0, "miss"))
        for same in (self.base, self.lower(folder="another/folder"), self.lower(lines=7), self.lower(PYTHONHASHSEED="12345"),
                     self.lower(PYTHONHASHSEED="54321"), self.lower_with_reordered_options()):
            self.assertEqual(self.served(same), (2, "hit"))
        for knob in ("lr=9.99e-4", "start=3", "batch=6", "rank=3", "dtype=bfloat16", "shard=x", "donate=yes", "layout=yes",
                     "option=yes"):
            with self.subTest(knob):
                self.assertEqual(self.served(self.lower(knob)), (0, "miss"))

    def test_options_in_another_map_order_are_the_same_options(self):
        other = self.lower_with_reordered_options()
        self.assertEqual(self.identity(self.base)["facets"], self.identity(other)["facets"])
        answer = stet("diff", "--options-a=" + self.options(self.base),
                      "--options-b=" + self.options(other), self.base, other)
        self.assertEqual(answer["class"], "identical")

    def check(self, knob, facet, reason):
        moved, answer = self.moved(knob)
        self.assertEqual(moved, {facet}, answer)
        self.assertEqual(answer["class"], reason, answer)
        self.assertEqual(answer["also"], [], answer)
        return answer

    def test_a_changed_constant_moves_only_the_constants(self):
        answer = self.check("lr=9.99e-4", "constants", "baked-constant")
        change = answer["changes"][0]
        self.assertEqual((change["from"], change["to"]), ("0.001", "0.000999"))
        with open(change["file"], encoding="utf-8") as f:
            self.assertIn('KNOBS["lr"]', f.read().splitlines()[change["line"] - 1])

    def test_a_changed_start_moves_only_the_slices(self):
        answer = self.check("start=3", "slices", "slice-start")
        with open(answer["changes"][0]["file"], encoding="utf-8") as f:
            line = f.read().splitlines()[answer["changes"][0]["line"] - 1]
        self.assertIn("start:start + 8", line)

    def test_a_changed_size_moves_the_shapes_and_constants_follow(self):
        answer = self.check("batch=6", "shapes", "shape-drift")
        self.assertEqual(answer["follows"], {"constants": "shapes"})

    def test_a_changed_rank_moves_the_ranks_and_the_rest_follows(self):
        answer = self.check("rank=3", "ranks", "rank-change")
        self.assertEqual(set(answer["follows"].values()), {"ranks"})

    def test_a_changed_dtype_moves_only_the_dtypes(self):
        self.check("dtype=bfloat16", "dtypes", "dtype-change")

    def test_a_changed_sharding_moves_only_the_shardings(self):
        self.check("shard=x", "shardings", "sharding-change")

    def test_a_changed_donation_moves_only_the_donation(self):
        self.check("donate=yes", "donation", "donation-change")

    def test_a_changed_layout_moves_only_the_layouts(self):
        self.check("layout=yes", "layouts", "layout-change")

    def test_a_changed_option_moves_only_the_options(self):
        answer = self.check("option=yes", "options", "options-drift")
        self.assertIn("xla_cpu_enable_fast_math", answer["changes"][0]["what"])


if __name__ == "__main__":
    unittest.main()
