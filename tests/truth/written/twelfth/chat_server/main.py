from engine import Engine, Request

QUEUE = [
    Request("moon", {}, 3),
    Request("tide", {"temperature": 0.7}),
    Request("rain", {}, 5),
    Request("the wind is loud", {"k": 12, "temperature": 0.9}),
    Request("moon"),
    Request("a lamp by the window", {}, 16),
    Request("tide", {"temperature": 1.3}, 2),
    Request("sun", {"k": 3}, 7),
    Request("rain"),
]


def main():
    engine = Engine()
    for req in QUEUE:
        print(f"{req.prompt!r} -> {engine.serve(req)}")
    print(engine.stats)


if __name__ == "__main__":
    main()
