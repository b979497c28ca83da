import sys

from api import TRAFFIC, Inbox
from engine import Engine


def serve(inbox, out=sys.stdout):
    engine = Engine(seed=3)
    for req in inbox:
        reply = list(engine.generate(req))
        out.write(f"{req.rid}: {reply}\n")
    out.write(f"emitted {engine.emitted}\n")


if __name__ == "__main__":
    serve(Inbox(TRAFFIC))
