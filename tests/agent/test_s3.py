"""The S3 tier with an emulator that checks signatures."""
import json
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(__file__))
PYTHON = sys.argv.pop(3)
from conformance import Conformance
from hosts import Case
from servers import Moto, wait_for


class S3(Conformance, Case):
    rejected = "403"
    atomic = False  # moto looks, and writes later

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="stet-s3-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.server = Moto(cls.folder, PYTHON)
        cls.addClassCleanup(cls.server.stop)
        assert wait_for(lambda: os.path.exists(cls.folder + "/keys"))
        with open(cls.folder + "/keys") as f:
            cls.keys = json.load(f)
        cls.wrong = dict(cls.keys, AWS_SECRET_ACCESS_KEY="notTheSecret")
        cls.secrets = (*cls.keys.values(), "notTheSecret")

    def setUp(self):
        super().setUp()
        self.url = f"s3://stet/{self._testMethodName}?endpoint=http://127.0.0.1:{self.server.port}"


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], warnings="ignore")
