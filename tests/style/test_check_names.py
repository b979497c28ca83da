"""tools/check-names finds doubled tags, doubled files, foreign prefixes, lists of causes, and allowances
without a use."""
import unittest

import tree

GOOD = {
    "tools/names.txt": "prefixes mid: stet_knot # older than the rule\n",
    "src/low/low.h": "struct stet_low_thing {\n    int x;\n};\nint stet_low_count(void);\n",
    "src/low/low.c": "int stet_low_count(void)\n{\n    return 1;\n}\n\nstatic int help(void)\n{\n    return 0;\n}\n",
    "src/mid/mid.c": "/* struct stet_low_thing { is named here only */\n"
                     "void stet_knot_tie(int a,\n                   int b)\n{\n}\n\nint stet_mid(void)\n{\n}\n",
}


class CheckNames(tree.TreeTest):
    script = "check-names"

    def test_a_tree_that_follows_the_rules_passes(self):
        self.assert_passes(GOOD)

    def test_a_tag_of_two_meanings_fails_and_can_be_allowed(self):
        twice = GOOD | {"src/mid/own.h": "enum stet_low_thing { A };\n"}
        self.assert_fails(twice, "src/mid/own.h: tag stet_low_thing is also defined in src/low/low.h")
        self.assert_passes(twice | {"tools/names.txt": GOOD["tools/names.txt"] + "tags: stet_low_thing\n"})

    def test_a_file_name_of_two_modules_fails_and_can_be_allowed(self):
        twice = GOOD | {"src/mid/low.h": ""}
        self.assert_fails(twice, "file name low is used more than once: src/low/low.c, src/low/low.h, "
                                 "src/mid/low.h")
        self.assert_passes(twice | {"tools/names.txt": GOOD["tools/names.txt"] + "files: low\n"})

    def test_a_file_name_of_two_folders_of_a_module_fails(self):
        self.assert_fails(GOOD | {"src/low/deep/low.c": ""}, "file name low is used more than once")
        self.assert_passes(GOOD | {"src/mid/deep/mid.h": ""})  # the header of mid.c

    def test_a_function_that_is_not_named_after_its_module_fails(self):
        self.assert_fails(GOOD | {"src/low/more.c": "struct stet_x *stet_other_make(void)\n{\n}\n"},
                          "src/low/more.c: stet_other_make is not named after low, a file or a tag of it")

    def test_a_function_may_be_named_after_a_file_or_a_tag_of_its_module(self):
        self.assert_passes(GOOD | {"src/low/more.c": "int stet_more_make(void)\n{\n}\n",
                                   "src/low/list.def": "ITEM(a)\n",
                                   "src/low/items.c": "int stet_list_a(void)\n{\n}\n",
                                   "src/low/other.h": "struct stet_box {\n    int x;\n};\n",
                                   "src/low/boxes.c": "int stet_box_open(void)\n{\n}\n"})

    def test_a_name_after_a_file_or_a_tag_of_another_module_fails(self):
        box = GOOD | {"src/low/box.h": "struct stet_lid {\n    int x;\n};\n"}
        self.assert_fails(box | {"src/mid/own.c": "int stet_box_open(void)\n{\n}\n"},
                          "src/mid/own.c: stet_box_open is not named after mid, a file or a tag of it")
        self.assert_fails(box | {"src/mid/own.c": "int stet_lid_open(void)\n{\n}\n"},
                          "src/mid/own.c: stet_lid_open is not named after mid, a file or a tag of it")

    def test_the_longest_word_decides(self):
        longer = GOOD | {"src/low/box_lid.h": "", "src/mid/box.h": ""}
        self.assert_passes(longer | {"src/mid/own.c": "int stet_box_open(void)\n{\n}\n"})
        self.assert_fails(longer | {"src/mid/own.c": "int stet_box_lid_open(void)\n{\n}\n"},
                          "src/mid/own.c: stet_box_lid_open is not named after mid, a file or a tag of it")

    def test_a_prefix_of_two_modules_fails(self):
        both = GOOD | {"src/low/more.c": "void stet_knot_cut(void)\n{\n}\n",
                       "tools/names.txt": "prefixes mid: stet_knot\nprefixes low: stet_knot\n"}
        self.assert_fails(both, "prefix stet_knot names functions of several modules: low, mid")

    def test_the_name_of_another_module_is_a_prefix_of_two(self):
        foreign = GOOD | {"src/low/more.c": "void stet_mid_cut(void)\n{\n}\n",
                          "tools/names.txt": "prefixes mid: stet_knot\nprefixes low: stet_mid\n"}
        self.assert_fails(foreign, "prefix stet_mid names functions of several modules: low, mid")

    def test_a_list_of_causes_in_the_code_fails(self):
        causes = GOOD | {"src/cause/causes.def": "CAUSE(A, \"a\")\nCAUSE(B, \"b\")\nCAUSE(C, \"c\")\n"}
        rule = "static bool is_one(int c)\n{\n    return c == STET_CAUSE_A || c == STET_CAUSE_B%s;\n}\n"
        self.assert_passes(causes | {"src/low/rule.c": rule % " || c == STET_CAUSE_NONE"})
        self.assert_fails(causes | {"src/low/rule.c": rule % " ||\n           c == STET_CAUSE_C"},
                          "src/low/rule.c: lists causes (A, B, C): ask for a flag of causes.def")
        cases = "static int of(int c)\n{\n    switch (c) {\n    case STET_CAUSE_A:\n    case STET_CAUSE_B:\n" \
                "    case STET_CAUSE_C:\n        return 1;\n    }\n}\n"
        self.assert_fails(causes | {"src/low/rule.c": cases}, "src/low/rule.c: lists causes (A, B, C)")

    def test_an_allowance_that_nothing_needs_fails(self):
        self.assert_fails(GOOD | {"tools/names.txt": GOOD["tools/names.txt"] + "\ntags: stet_gone\n"},
                          "tools/names.txt:3: tags: stet_gone is not needed any more: remove it")


if __name__ == "__main__":
    unittest.main()
