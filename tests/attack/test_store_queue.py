"""What waits to be kept is bounded by bytes: a slow store must not take all of the host's memory."""
import attack

OPS = ("add", "multiply", "subtract", "maximum", "minimum")


def large(op):
    return attack.program(op) + "// " + "x" * (1 << 20) + "\n"


class StoreQueue(attack.Case):
    def test_programs_beyond_the_bound_are_not_kept_while_others_wait(self):
        """The thread that keeps is held up by the first; five programs of a megabyte come meanwhile."""
        words = [store for _, store in self.compile(*map(large, OPS), words=["--keep"], STET_STORE_PENDING=str(5 << 19),
                                                    FAKE_HANG="PJRT_Executable_Serialize")]
        self.assertEqual(words, ["miss", "miss", "queue-full", "queue-full", "queue-full"])

    def test_a_program_over_the_bound_is_never_kept(self):
        bound = dict(STET_STORE_PENDING=str(1 << 20))
        self.assertEqual(self.compile(large("add"), attack.program("multiply"), **bound), [(0, "too-large"), (0, "miss")])
        self.assertEqual(self.compile(large("add"), attack.program("multiply"), **bound), [(0, "too-large"), (2, "hit")])
        self.assertEqual(len(self.entries()), 1)
        self.assertEqual(self.compile(large("add")), [(0, "miss")])
        self.assertEqual(self.compile(large("add"), **bound), [(2, "hit")])

    def test_a_stored_program_makes_room_for_the_next(self):
        """Each executable is destroyed before the next compile, which waits until it is kept."""
        served = self.compile(*map(large, OPS), STET_STORE_PENDING=str(3 << 19))
        self.assertEqual(served, [(0, "miss")] * len(OPS))
        self.assertEqual(len(self.entries()), len(OPS))


if __name__ == "__main__":
    attack.main()
