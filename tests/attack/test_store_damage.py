"""Entries that are damaged are written anew, wherever the damage is."""
import attack


class StoreDamage(attack.Case):
    def test_a_version_that_flipped_is_damage(self):
        """One flipped bit made the entry look like a newer Stet's, which is never overwritten."""
        self.assertEqual(self.compile(), [(0, "miss")])
        (path,) = self.entries()
        for bit in (3, 7, 31):
            with open(path, "r+b") as f:
                f.seek(8 + bit // 8)
                byte = f.read(1)[0]
                f.seek(8 + bit // 8)
                f.write(bytes([byte ^ 1 << bit % 8]))
            self.assertEqual(self.compile(), [(0, "damaged")])
            self.assertEqual(self.compile(), [(2, "hit")])


if __name__ == "__main__":
    attack.main()
