"""The end of a process: no thread of the layer is in the plugin when the plugin's statics are destroyed."""
import attack


class StoreExit(attack.Case):
    def test_a_process_that_ends_while_its_executable_is_serialised(self):
        """The plugin makes its statics in the first compile, after the layer started, so exit destroys them before any
        handler that the layer registered at its start."""
        self.assertEqual(self.compile(words=["--keep"], FAKE_SERIALIZE_MS="700"), [(0, "miss")])
        self.assertEqual(len(self.entries()), 1)  # it was waited for
        self.assertEqual(self.compile(), [(2, "hit")])

    def test_a_process_that_ends_while_something_is_loaded_ahead(self):
        """The same command with another program in its file: what it asked for the last time is being loaded."""
        self.assertEqual(self.compile(attack.program("add"), words=["--keep"]), [(0, "miss")])
        self.assertEqual(self.compile(attack.program("multiply"), words=["--keep"], FAKE_LOAD_MS="700",
                                      HARNESS_UNTIL="PJRT_Executable_DeserializeAndLoad=1"), [(0, "miss")])

    def test_many_programs_end_as_well(self):
        """A queue of programs is still being kept when the process ends."""
        texts = [attack.program().replace("2x3", f"{n}x3").replace("2,3", f"{n},3") for n in range(2, 62)]
        self.assertEqual(self.compile(*texts, words=["--keep"], FAKE_SERIALIZE_MS="100"), [(0, "miss")] * len(texts))


if __name__ == "__main__":
    attack.main()
