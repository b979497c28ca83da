"""What the library in the user's process can reach through tools/layers.txt, which CMake links by."""
import os
import unittest

import tree


def uses():
    found = {}
    with open(os.path.join(tree.ROOT, "tools", "layers.txt")) as lines:
        for line in lines:
            line = line.split("#")[0].strip()
            if line:
                module, _, others = line.partition(":")
                found[module] = others.split()
    return found


def reach(module, layers):
    seen, open_ = set(), [module]
    while open_:
        for other in layers[open_.pop()]:
            if other not in seen:
                seen.add(other)
                open_.append(other)
    return seen


class Layers(unittest.TestCase):
    def test_the_layer_links_nothing_that_explains_or_reads_python(self):
        reached = reach("intercept", uses())
        self.assertIn("gate", reached)
        self.assertFalse(reached & {"explain", "ingest", "lint", "ledger", "report", "bundle", "agent", "session", "contract",
                                    "trust", "backend", "cli"}, reached)

    def test_the_backend_is_built_from_readers_alone(self):
        self.assertEqual(reach("backend", uses()), {"base", "abi", "program", "legalize", "decode"})

    def test_every_folder_of_src_is_listed(self):
        src = os.path.join(tree.ROOT, "src")
        folders = {name for name in os.listdir(src) if os.path.isdir(os.path.join(src, name))}
        self.assertEqual(folders, set(uses()))


if __name__ == "__main__":
    unittest.main()
