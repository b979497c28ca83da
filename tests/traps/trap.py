"""What a trap script expects of Stet: its comment header, and the lines marked in it.

    # trap: ID              the class, or `none` for a script that must raise no alarm
    # also: ID ID           further causes in the same compile
    # function: NAME        the jitted function that recompiles; no other one may raise an alarm
    # recompiles: N         how often; `N+` for at least
    # benign: yes           listed, but as normal
    # fix: WORD, WORD       words that the fix must contain; a name of the script's own in `…`
    # run: cpu | libtpu     what the script runs on
    # variants: no          it is run as it is only
    # launch: NAME=VALUE    one launch of several, in order; the last one is explained

Lines that end in `# origin`, `# trigger` or `# mention` are where the explanation must point; when
several lines have one mark, any of them will do.
"""

import dataclasses
import pathlib
import re

MARK = re.compile(r"#\s*(origin|trigger|mention)\b")
FIELD = re.compile(r"# ([a-z]+): ?(.*)$")


@dataclasses.dataclass
class Trap:
    name: str
    id: str = "none"
    also: list = dataclasses.field(default_factory=list)
    function: str = ""
    least: int = 0
    most: float = 0
    benign: bool = False
    fix: list = dataclasses.field(default_factory=list)
    run: str = "cpu"
    variants: bool = True
    launches: list = dataclasses.field(default_factory=list)
    lines: dict = dataclasses.field(default_factory=dict)

    @property
    def lane(self):
        return self.name.split("/")[0] if "/" in self.name else ""

    @property
    def classes(self):
        return {self.id, *self.also}


def parse(name, source):
    trap = Trap(name, lines={"origin": set(), "trigger": set(), "mention": set()})
    in_head = True
    for number, line in enumerate(source.splitlines(), 1):
        field = FIELD.match(line) if in_head else None
        in_head = in_head and line.startswith("#")
        if field:
            take(trap, *field.groups())
        elif not in_head:
            for mark in MARK.findall(line):
                trap.lines[mark].add(number)
    return trap


def take(trap, key, value):
    if key == "trap":
        trap.id = value
    elif key == "also":
        trap.also = value.split()
    elif key == "function":
        trap.function = value
    elif key == "recompiles":
        trap.least = int(value.rstrip("+"))
        trap.most = float("inf") if value.endswith("+") else trap.least
    elif key == "benign":
        trap.benign = value == "yes"
    elif key == "fix":
        trap.fix = [w.strip(" `") for w in value.split(",")]
    elif key == "variants":
        trap.variants = value != "no"
    elif key == "run":
        trap.run = value
    elif key == "launch":
        trap.launches.append(value)
    else:
        raise ValueError(f"{trap.name}: no field {key}")


def load(path, root):
    source = pathlib.Path(path).read_text()
    return parse(str(pathlib.Path(path).relative_to(root).with_suffix("")), source), source
