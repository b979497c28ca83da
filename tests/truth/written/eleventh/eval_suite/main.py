import json

from runner import Evaluator, load_params
from tasks import SUITE


def main():
    evaluate = Evaluator(load_params(), {"bins": 8, "title": "nightly"})
    table = {}
    for task in SUITE:
        table[task.name] = {k: round(v, 4) for k, v in evaluate(task).items()}
        print(task.name, table[task.name])
    print(json.dumps(table, sort_keys=True)[:60])


main()
