"""Facts about files under docs that no command prints.

usage: test_pages.py [unittest arguments]
"""

import json
import os
import re
import unittest

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs")


class Dashboard(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(DOCS, "grafana-dashboard.json"), encoding="utf-8") as file:
            panels = json.load(file)["panels"]
        self.queries = [(p["title"], t["expr"]) for p in panels for t in p.get("targets", [])]
        self.assertGreater(len(self.queries), 10)

    def test_rates_hold_at_any_scrape_interval(self):
        for title, query in self.queries:
            for span in re.findall(r"\[([^\]]+)\]", query):
                self.assertIn(span, ("$__rate_interval", "5m"), title)

    def test_waits_are_not_summed_over_lanes(self):
        waits = [(title, query) for title, query in self.queries if "stet_recompile_seconds_total" in query]
        self.assertTrue(waits)
        for title, query in waits:
            self.assertRegex(query, r"sum by \([^)]*\blane\b[^)]*\)", title)


if __name__ == "__main__":
    unittest.main()
