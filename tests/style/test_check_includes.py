"""tools/check-includes finds forbidden includes, unused permissions and modules out of order."""
import unittest

import tree

LAYERS = "low:\nmid: low\nhigh: low mid\n"
GOOD = {
    "tools/layers.txt": LAYERS,
    "src/low/low.c": '#include "low/low.h"\n',
    "src/mid/deep/mid.c": '#include "low/low.h"\n#include "generated.h"\n',
    "src/high/high.h": '#include "mid/mid.h"\n',
    "src/high/list.def": '#include "low/low.h"\n',
}


class CheckIncludes(tree.TreeTest):
    script = "check-includes"

    def test_a_tree_that_follows_its_list_passes(self):
        self.assert_passes(GOOD)

    def test_an_include_that_is_not_allowed_fails_with_its_place(self):
        self.assert_fails(GOOD | {"src/low/up.c": '\n#include "mid/mid.h"\n'},
                          "src/low/up.c:2: low may not include mid/mid.h")

    def test_a_folder_below_a_module_obeys_the_same_line(self):
        self.assert_fails(GOOD | {"src/mid/deep/up.c": '#include "high/high.h"\n'},
                          "src/mid/deep/up.c:1: mid may not include high/high.h")

    def test_a_header_below_a_module_is_private_to_it(self):
        self.assert_passes(GOOD | {"src/mid/own.c": '#include "mid/deep/parts.h"\n'})
        self.assert_fails(GOOD | {"src/high/in.c": '#include "mid/deep/parts.h"\n'},
                          "src/high/in.c:1: mid/deep/parts.h is private to mid")

    def test_a_permission_that_nothing_uses_fails(self):
        self.assert_fails(GOOD | {"src/high/list.def": ""},
                          "tools/layers.txt:3: high does not use low: remove the permission")

    def test_a_module_that_is_not_listed_fails(self):
        self.assert_fails(GOOD | {"src/other/a.c": '#include "low/low.h"\n'},
                          "src/other/a.c: module other is not in tools/layers.txt")

    def test_a_module_may_not_use_one_that_is_listed_below_it(self):
        self.assert_fails(GOOD | {"tools/layers.txt": "low: high\n" + LAYERS[5:],
                                  "src/low/up.c": '#include "high/high.h"\n'},
                          "tools/layers.txt:1: low may use only modules listed above it, not high")


if __name__ == "__main__":
    unittest.main()
