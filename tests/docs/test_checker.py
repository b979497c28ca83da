"""Facts about tools/check-docs: it accepts a right tree, and names each kind of mistake in a wrong one."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

CHECKER = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check-docs"

TREE = {
    "ARCHITECTURE.md": """# Architecture
## Modules
| where | module | what |
|---|---|---|
| everywhere | `base` | errors |
## The way of one compile
| | function | file |
|---|---|---|
| 1 | `stet_open` | `base/open.c` |
## Decisions
| | [1. One](docs/decisions/0001-one.md) |
""",
    "CHANGELOG.md": "# Changelog\n\n## 1.2.0\n\n| store | `STET_STORE_VERSION` | 3 |\n",
    "SECURITY.md": "# Security\n\n| claim | test |\n|---|---|\n| Nobody enters | `attack.door`: `it_is_shut…` |\n",
    "tests/attack/test_door.py": "def test_it_is_shut_at_night(self):\n    pass\n",
    "tests/unit/test_hall.c": "TEST(it_is_lit)\n{\n}\n",
    "CMakeLists.txt": "project(stet VERSION 1.2.0 LANGUAGES C)\n",
    "docs/page.md": "# A page\n\n## Two words\n\n[here](#two-words), [up](../ARCHITECTURE.md), `src/base/*.c`, "
                    "`tests/unit/test_hall.c: it_is_lit`\n",
    "docs/decisions/0001-one.md": "# 1. One\n\n[a page](../page.md#two-words)\n",
    "src/base/open.c": "int stet_open(void)\n{\n    return 0;\n}\n",
    "src/base/store.h": "#define STET_STORE_VERSION 3\n",
    "tools/layers.txt": "base:\n",
    "src/cause/causes.def": """CAUSE(SIZE, "size-moved", XLA, SHAPES, SHAPES, NONE, FEEDS, 0,
      "a size (of something) differs", "diff.md#classes")

/* ---- with the history of a run ---- */

CAUSE(LAST, "last-one", XLA, NONE, SHAPES, NONE, NONE, IS_SIZE | SIZE_FROM, "the last (short) one", "traps/last-one.md")
    FIX(LAST, ANY, "drop it")

/* ---- torch.compile's own ---- */

CAUSE(BREAK, "break", TORCH, NONE, BRANCH, NONE, NONE, 0, "a break", "explain.md")

#undef CAUSE
""",
    "src/bundle/matrix.txt": "[one-row]\narea = version\n\n[another-row]\narea = plugin\n",
    "docs/doctor.md": "# doctor\n\n    known to break: 1 of 2 rows fits\n",
    "docs/diff.md": "# diff\n\n## Classes\n\n| class | |\n|---|---|\n| `size-moved` | It did. |\n\n## More\n",
    "docs/explain.md": """# explain

## Causes

| cause | |
|---|---|
| [`last-one`](traps/last-one.md) | It came last. |
| `size-moved` | Here too. |

### Under PyTorch/XLA

### Under torch.compile

| cause | |
|---|---|
| `break` | It broke. |

## More
""",
    "docs/traps/README.md": "# Traps\n\n| trap | |\n|---|---|\n| [last-one](last-one.md) | short |\n",
    "docs/traps/last-one.md": "# last-one\n",
}


class Checker(unittest.TestCase):
    def check(self, **changes):
        """What the checker prints about the tree with one text replaced in one file, and its exit code."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in TREE.items():
                for old, new in changes.get("replace", {}).get(name, ()):
                    self.assertIn(old, text)
                    text = text.replace(old, new)
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            shutil.copy(CHECKER, root / "tools" / "check-docs")
            done = subprocess.run([sys.executable, root / "tools" / "check-docs"], capture_output=True, text=True)
            self.assertEqual(done.stderr, "")
            return done.returncode, done.stdout

    def names(self, mistake, name, old, new):
        code, out = self.check(replace={name: [(old, new)]})
        self.assertEqual((code, out), (1, mistake + "\n"))

    def test_a_right_tree_passes(self):
        self.assertEqual(self.check()[0], 0)

    def test_a_cause_that_a_table_lacks_is_reported(self):
        wrong = "%s: its causes differ from src/cause/causes.def at %s"
        self.names(wrong % ("docs/diff.md", "size-moved"), "docs/diff.md", "| `size-moved` | It did. |\n", "")
        self.names(wrong % ("docs/explain.md", "last-one"), "docs/explain.md",
                   "| [`last-one`](traps/last-one.md) | It came last. |\n", "")
        self.names(wrong % ("docs/explain.md, under torch.compile", "break"), "docs/explain.md", "| `break` | It broke. |\n", "")

    def test_a_cause_that_only_a_table_has_is_reported(self):
        self.names("docs/explain.md: its causes differ from src/cause/causes.def at gone", "docs/explain.md",
                   "| `size-moved` | Here too. |", "| `gone` | Long ago. |")

    def test_a_trap_that_the_index_lacks_is_reported(self):
        self.names("docs/traps/README.md: its index differs from the pages at last-one", "docs/traps/README.md",
                   "| [last-one](last-one.md) | short |\n", "")

    def test_a_cause_whose_page_is_gone_is_reported(self):
        self.names("src/cause/causes.def: size-moved has no page docs/diff.md#kinds", "src/cause/causes.def",
                   "diff.md#classes", "diff.md#kinds")
        self.names("src/cause/causes.def: the page of last-one is docs/traps/last-one.md", "src/cause/causes.def",
                   "traps/last-one.md", "explain.md")

    def test_a_cause_that_is_not_understood_is_reported(self):
        self.names("src/cause/causes.def: a CAUSE line was not understood\n"
                   "docs/diff.md: its causes differ from src/cause/causes.def at size-moved\n"
                   "docs/explain.md: its causes differ from src/cause/causes.def at size-moved", "src/cause/causes.def",
                   '"size-moved"', '"Size moved"')

    def test_output_with_another_number_of_matrix_rows_is_reported(self):
        self.names("docs/doctor.md: shows a matrix of 3 rows, it has 2", "docs/doctor.md", "1 of 2", "1 of 3")

    def test_a_comment_that_names_no_file_is_reported(self):
        self.names("src/base/open.c: no file close.c", "src/base/open.c", "int stet_open", "/* As close.c does. */\nint stet_open")
        self.names("src/base/open.c: no file base/close.h", "src/base/open.c", "int stet_open",
                   "/* See base/close.h. */\nint stet_open")

    def test_a_link_to_no_file_is_reported(self):
        self.names("docs/page.md: no file ../ARCHITECT.md", "docs/page.md", "../ARCHITECTURE.md", "../ARCHITECT.md")

    def test_a_link_to_no_heading_is_reported(self):
        self.names("docs/decisions/0001-one.md: no heading for ../page.md#three-words", "docs/decisions/0001-one.md",
                   "#two", "#three")

    def test_a_path_in_code_that_is_gone_is_reported(self):
        self.names("docs/page.md: no file src/abi/*.c", "docs/page.md", "src/base/*.c", "src/abi/*.c")

    def test_a_test_that_a_page_names_and_its_file_lacks_is_reported(self):
        self.names("docs/page.md: no it_is_dark in tests/unit/test_hall.c", "docs/page.md", "it_is_lit", "it_is_dark")
        self.names("docs/page.md: no file tests/unit/test_room.c", "docs/page.md", "test_hall", "test_room")

    def test_a_path_in_a_comment_that_is_gone_is_reported(self):
        self.names("src/base/open.c: no file tests/base/gone.sh", "src/base/open.c",
                   "int stet_open", "/* tests/base/gone.sh checks it. */\nint stet_open")

    def test_a_module_that_is_not_listed_is_reported(self):
        self.names("ARCHITECTURE.md: its modules differ from tools/layers.txt at ['abi']", "tools/layers.txt",
                   "base:", "base:\nabi: base")

    def test_a_function_that_is_gone_is_reported(self):
        self.names("ARCHITECTURE.md: no function stet_open under src", "src/base/open.c", "stet_open", "stet_opened")

    def test_a_file_of_the_way_that_is_gone_is_reported(self):
        self.names("ARCHITECTURE.md: no file base/opens.c under src", "ARCHITECTURE.md", "base/open.c", "base/opens.c")

    def test_a_decision_that_is_not_listed_is_reported(self):
        self.names("ARCHITECTURE.md: its index differs from docs/decisions at ['0001-one.md']", "ARCHITECTURE.md",
                   "[1. One](docs/decisions/0001-one.md)", "")

    def test_a_claim_whose_test_is_gone_is_reported(self):
        self.names("SECURITY.md: no test attack.gate\nSECURITY.md: no test it_is_shut…", "SECURITY.md", "attack.door", "attack.gate")
        self.names("SECURITY.md: no test it_is_shut…", "tests/attack/test_door.py", "is_shut", "is_open")

    def test_a_changelog_of_another_version_is_reported(self):
        self.names("CHANGELOG.md: does not begin with 1.3.0", "CMakeLists.txt", "1.2.0", "1.3.0")

    def test_a_format_version_that_moved_is_reported(self):
        self.names("CHANGELOG.md: STET_STORE_VERSION is not 3", "src/base/store.h", "3", "4")


unittest.main()
