"""tools/house-figures --check finds a cli that has grown, names used twice, knowledge of libraries in code, and a second
reader of Python."""
import subprocess
import unittest

import tree

GOOD = {"src/cli/main.c": "int main(void)\n{\n}\n", "src/python/syntax.c": "#include <tree_sitter/api.h>\n"}


class HouseFigures(tree.TreeTest):
    script = "house-figures"
    options = ("--check",)

    def test_a_small_tree_passes(self):
        self.assert_passes(GOOD)

    def test_a_long_cli_fails(self):
        self.assert_passes(GOOD | {"src/cli/long.c": "\n" * (9000 - 3)})
        self.assert_fails(GOOD | {"src/cli/long.c": "\n" * (9000 - 2)}, "lines of cli: 9001, more than 9000")

    def test_a_name_used_twice_fails(self):
        tag = "struct stet_box {\n};\n"
        self.assert_fails(GOOD | {"src/cli/a.h": tag, "src/low/b.h": tag}, "doubled tags: 1, more than 0")
        self.assert_fails(GOOD | {"src/low/main.c": ""}, "doubled file names: 1, more than 0")

    def test_a_second_reader_of_python_fails(self):
        self.assert_fails(GOOD | {"src/low/a.c": 'at = memmem(p, n, "def ", 4);\n'}, "Python readers: 2, more than 1")

    def test_knowledge_of_libraries_outside_of_their_list_fails(self):
        names = 'const char *const names[] = {%s};\n' % ", ".join(['"jax.numpy.where"'] * 2)
        self.assert_fails(GOOD | {"src/lint/a.c": names}, "library names in code: 2, more than 1")
        self.assert_passes(GOOD | {"src/python/library.def": names, "src/lint/a.c": "/* " + names + " */\n"})

    def test_the_table_has_a_column_for_each_tree(self):
        done = subprocess.run([f"{tree.ROOT}/tools/house-figures", "--markdown", tree.ROOT, tree.ROOT],
                              capture_output=True, text=True, check=True)
        head, rule, *rows = done.stdout.splitlines()
        self.assertEqual((head.count("|"), rule), (4, "|---|---:|---:|"))
        for row in rows:
            self.assertEqual(row.split(" | ")[1], row.split(" | ")[2].rstrip(" |"), row)


if __name__ == "__main__":
    unittest.main()
