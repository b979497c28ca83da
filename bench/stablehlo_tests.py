"""StableHLO's own interpreter tests and testdata on the embedded CPU backend, and on XLA's CPU.

usage: stablehlo_tests.py CHECKOUT [--only=TEXT] [--no-xla] [--eval=STET_EVAL] [--python=P] [--json=FILE]

CHECKOUT is one of openxla/stablehlo. Each function that checks a result is a program of its own: it returns the
result and what is expected, which are compared here by StableHLO's rules. Prints how many agree, then those that
do not, each with its reason and with what XLA's CPU does. Run by a Python with NumPy and ml_dtypes (--python's).
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import ml_dtypes  # noqa: F401  names its types for NumPy
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHECK = re.compile(r"""(?mx)^\s*(?:stablehlo\.custom_call\s*@check\.(?P<call>expect_\w+)\(\s*(?P<a>%[\w\#]+)\s*,\s*(?P<b>%[\w\#]+)\s*\)[^:\n]*:\s*\((?P<types>.*)\)\s*->.*
    |check\.(?P<op>expect_(?:almost_)?eq|expect_close)\s+(?P<c>%[\w\#]+)\s*,\s*(?P<d>%[\w\#]+)[^:\n]*:\s*(?P<type>.*)
    |check\.(?P<const>expect_(?:almost_)?eq_const)\s+(?P<e>%[\w\#]+)\s*,\s*(?P<value>dense<[^>]*>)(?:\s*,\s*tolerance\s*=\s*(?P<near>\S+))?\s*:\s*(?P<of>[^,{\n]*?)\s*(?:[,{]\s*tolerance\s*=\s*(?P<near_>\S+).*)?)\s*(?://.*)?$""")
# The interpreter's own operation that runs functions on several devices: replicas, each with its partitions.
PARALLEL = re.compile(r"""(?sx)(?P<results>%\w+)(?::\d+)?\s*=\s*"interpreter\.run_parallel"\((?P<operands>[^)]*)\)\s*\{\s*
    programs\s*=\s*\[(?P<programs>.*?\])\s*\]\s*\}\s*:\s*\((?P<types>[^)]*)\)\s*->\s*\((?P<outs>[^)]*)\)""")
FLOATS = {"f64": "<f8", "f32": "<f4", "f16": "<f2", "bf16": "bfloat16", "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2",
          "f8E4M3B11FNUZ": "float8_e4m3b11fnuz", "f8E4M3FNUZ": "float8_e4m3fnuz", "f8E5M2FNUZ": "float8_e5m2fnuz",
          "f8E4M3": "float8_e4m3", "f8E3M4": "float8_e3m4", "f8E8M0FNU": "float8_e8m0fnu", "f4E2M1FN": "float4_e2m1fn",
          "f6E2M3FN": "float6_e2m3fn", "f6E3M2FN": "float6_e3m2fn"}
# StableHLO's own tolerances (CheckOps.td).
ULPS, NEAR = 3, 1e-4


def functions(text):
    """(name, begin, body begin, end) of each function of a module's text."""
    for match in re.finditer(r"func\.func\s+(?:public\s+|private\s+)?@(\w+)\s*\(", text):
        at = text.index("(", match.end() - 1)
        depth, body = 0, None
        for i in range(at, len(text)):
            if text[i] in "({":
                depth += 1
                if text[i] == "{" and depth == 1 and re.search(r"(?:->\s*[^{]*|\)\s*|attributes\s*)$", text[at:i]):
                    body = i
            elif text[i] in ")}":
                depth -= 1
                if not depth and text[i] == "}" and body:
                    yield match.group(1), match.start(), body, i + 1
                    break


def split_types(text):
    out, depth, start = [], 0, 0
    for i, c in enumerate(text + ","):
        depth += c in "<("
        depth -= c in ">)"
        if c == "," and not depth:
            out.append(text[start:i].strip())
            start = i + 1
    return [t for t in out if t]


def program(text, name, begin, body, end):
    """The module with this function alone checked: it returns results and what is expected, in pairs."""
    inside, pairs, types, rules = text[body:end], [], [], []

    def take(m):
        kind = m["call"] or m["op"] or m["const"]
        before = ""
        if m["const"]:
            expected, type_ = f"%expected_{len(pairs)}", m["of"].strip()
            before = f"\n    {expected} = stablehlo.constant {m['value']} : {type_}"
            pairs.append((m["e"], expected))
            types.append((type_, type_))
        else:
            both = split_types(m["types"] or m["type"])
            pairs.append((m["a"] or m["c"], m["b"] or m["d"]))
            types.append((both[0], both[-1]))
        rules.append((kind, float(m["near"] or m["near_"] or NEAR)))
        return before

    inside = CHECK.sub(take, inside)
    if not pairs or "check." in inside:
        return None
    values = ", ".join(v for pair in pairs for v in pair)
    flat = ", ".join(t for pair in types for t in pair)
    inside = re.sub(r"(?m)^(\s*)(func\.)?return\b.*$(?![\s\S]*^\s*(?:func\.)?return\b)", rf"\1func.return {values} : {flat}", inside)
    head = f"func.func public @main() -> ({flat}) "
    if not re.match(r"func\.func\s+(?:public\s+|private\s+)?@\w+\s*\(\s*\)", text[begin:body]):
        return None
    rest = text[:begin] + head + inside + text[end:]
    return rest, [(t, rule) for (t, _), rule in zip(types, rules)]


class Replicas:
    """A function that the interpreter runs on several replicas, as a program for a compiler, and one without devices that
    gives the arguments and what is expected of some results."""

    def __init__(self, text, begin, body, end, match):
        rows = re.findall(r"\[([^\]]*)\]", "[" + match["programs"].lstrip("["))
        names = {name.strip() for row in rows for name in row.split(",")}
        if len(names) != 1 or any("," in row for row in rows):
            raise ValueError("several functions, or partitions with arguments of their own")
        self.count, called = len(rows), names.pop()[1:]
        self.types, self.outs = split_types(match["types"]), split_types(match["outs"])
        values, types, self.checks = [v.strip() for v in match["operands"].split(",") if v.strip()], list(self.types), []
        inside = text[body:end].replace(match[0], "")

        def take(m):
            self.checks.append((int(m["e"].partition("#")[2] or 0), m["of"].strip(), (m["const"], NEAR)))
            values.append(f"%expected_{len(values)}")
            types.append(m["of"].strip())
            return f"\n    {values[-1]} = stablehlo.constant {m['value']} : {types[-1]}"

        inside = CHECK.sub(take, inside)
        if "check." in inside or "token" in match[0] or not self.checks:
            raise ValueError("not a program that returns arrays")
        inside = re.sub(r"(?m)^\s*(func\.)?return\b.*$", f"    func.return {', '.join(values)} : {', '.join(types)}", inside)
        self.given = f"func.func public @main() -> ({', '.join(types)}) {inside}"
        self.program = re.sub(rf"func\.func\s+(public\s+|private\s+)?@{called}\b", "func.func public @main", text[:begin] + text[end:])


def size_of(types):
    return sum(size * count for _, size, count in map(bytes_of, types))


def run_replicas(stet_eval, replicas, scratch):
    """The results that are checked and what is expected of them, one pair after the other."""
    given = on_backend(stet_eval, replicas.given, scratch)
    arguments, expected = given[:size_of(replicas.types)], given[size_of(replicas.types):]
    got, pairs, at = on_backend(stet_eval, replicas.program, scratch, arguments, replicas.count), b"", 0
    for number, type_, _ in replicas.checks:
        start, size = size_of(replicas.outs[:number]), size_of([type_])
        pairs += got[start:start + size] + expected[at:at + size]
        at += size
    return pairs


def replicas(text, begin, body, end):
    """Replicas of a function that uses run_parallel; None if it does not, or if they are no program for a compiler."""
    match = PARALLEL.search(text[body:end])
    try:
        return match and Replicas(text, begin, body, end, match)
    except ValueError:
        return None


def programs(file):
    """(name, text or None, checks) of each checked function of a file; Replicas have themselves as the text."""
    for part in re.split(r"(?m)^// -----.*$", file.read_text()):
        whole = re.sub(r"(?m)^\s*//.*$", "", part)
        checked = [f for f in functions(whole) if "check.expect" in whole[f[2]:f[3]]]
        for n, (name, begin, body, end) in enumerate(checked):
            part, shift = whole, 0
            for _, other, _, last in reversed(checked[:n] + checked[n + 1:]):  # only the compiler's operations
                part = part[:other] + part[last:]
                shift += last - other if last <= begin else 0
            begin, body, end = begin - shift, body - shift, end - shift
            several = replicas(part, begin, body, end)
            made = (several, [(t, rule) for _, t, rule in several.checks]) if several else program(part, name, begin, body, end)
            yield f"{file.name}:{name}" if name != "main" else file.name, *(made or (None, None))


def bytes_of(type_):
    """(element, size of an element, count) of a tensor type."""
    match = re.fullmatch(r"tensor<((?:\d+x)*)(.*)>", type_)
    if not match:
        raise ValueError(f"{type_} is not compared")
    count = int(np.prod([int(n) for n in match[1].split("x") if n] or [1]))
    element = match[2]
    if element.startswith("complex<"):
        return element[8:-1], 2 * np.dtype(FLOATS[element[8:-1]]).itemsize, count
    if element in FLOATS:
        return element, np.dtype(FLOATS[element]).itemsize, count
    bits = re.fullmatch(r"[su]?i(\d+)", element)
    if not bits:
        raise ValueError(f"{type_} is not compared")
    return element, max(1, int(bits[1]) // 8), count


def apart(element, rule, a, b):
    """How far two arrays are apart: "" if they are equal by the rule."""
    kind, near = rule
    if a == b:
        return ""
    if element not in FLOATS:
        return "other values"
    x, y = (np.frombuffer(v, FLOATS[element]) for v in (a, b))
    same = (x == y) | ((x != x) & (y != y))
    wide = [v.astype("f8") for v in (x, y)]
    with np.errstate(all="ignore"):
        distance = np.where(same, 0, np.abs(wide[0] - wide[1]))
    if kind.startswith("expect_almost"):
        return "" if np.all(distance <= near) else f"{np.max(distance):.2g} apart"
    if kind.startswith("expect_eq"):
        return "" if np.all(same) else "other values"
    if not np.all(np.isfinite(distance)):
        return "other values"
    integer = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}[x.dtype.itemsize]
    low = int(np.iinfo(integer).min)  # floats in their order are integers in this order
    order = [np.array([low - n if n < 0 else n for n in np.frombuffer(v, integer).tolist()], object) for v in (a, b)]
    ulps = max(np.where(same, 0, abs(order[0] - order[1])))
    return "" if ulps <= ULPS else f"{ulps} ulp apart, at most {np.max(distance) / np.max(np.abs(wide[1])):.1e} of the largest element"


def judge(raw, checks):
    """None, or why the results are not as expected."""
    at = 0
    for n, (type_, rule) in enumerate(checks):
        element, size, count = bytes_of(type_)
        a, b = raw[at:at + size * count], raw[at + size * count:at + 2 * size * count]
        at += 2 * size * count
        if len(b) != size * count:
            return "fewer bytes than expected"
        if far := apart(element, rule, a, b):
            return f"result {n} ({type_}): {far}"
    return None if at == len(raw) else "more bytes than expected"


def on_backend(stet_eval, text, scratch, arguments=b"", count=1):
    (scratch / "p.mlir").write_text(text)
    (scratch / "in").write_bytes(arguments)
    done = subprocess.run([stet_eval, scratch / "p.mlir", scratch / "in", scratch / "out", "--replicas", str(count)],
                          capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise ValueError((done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1])
    return (scratch / "out").read_bytes()


XLA = '''
import json, sys
import numpy as np
from jaxlib import _jax, xla_client
client = xla_client.make_cpu_client(asynchronous=False)
devices = client.devices()[:1]
for line in sys.stdin:
    try:
        loaded = client.compile_and_load(json.loads(line), _jax.DeviceList(tuple(devices)), xla_client.CompileOptions())
        parts = [np.asarray(p[0]) for p in loaded.execute_sharded([]).disassemble_into_single_device_arrays()]
        print("ok", b"".join(p.tobytes() for p in parts).hex(), flush=True)
    except Exception as error:
        print("no", " ".join(str(error).split())[:300], flush=True)
'''


class Xla:
    """XLA's CPU client in a process of its own, because some programs end it."""

    def __init__(self, python):
        self.python, self.process = python, None

    def __call__(self, text):
        if not self.process or self.process.poll() is not None:
            self.process = subprocess.Popen([self.python, "-c", XLA], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.process.stdin.write(json.dumps(text) + "\n")
        self.process.stdin.flush()
        word, _, rest = self.process.stdout.readline().strip().partition(" ")
        if word != "ok":
            self.process.wait(10) if not word else None
            raise ValueError(rest or "the process ended")
        return bytes.fromhex(rest)


def outcome(run, checks):
    """None if all is as expected, else why not."""
    try:
        return judge(run(), checks)
    except (ValueError, KeyError, subprocess.TimeoutExpired) as error:
        return str(error)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--no-xla", action="store_true", help="do not ask XLA about what fails here")
    parser.add_argument("--all-xla", action="store_true", help="ask XLA about all programs")
    parser.add_argument("--eval", type=pathlib.Path, default=ROOT / "build/release/bin/stet-eval")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--json", help="write all outcomes there")
    return parser.parse_args()


def main():
    args = arguments()
    files = [f for part in ("stablehlo/testdata", "stablehlo/tests/interpret") for f in sorted((args.checkout / part).glob("*.mlir"))]
    xla, found, left, seen = Xla(args.python), {}, [], collections.Counter()
    with tempfile.TemporaryDirectory(prefix="stet-hlo-") as scratch:
        for file in files:
            if args.only not in str(file):
                continue
            for name, text, checks in programs(file):
                key = f"{file.parent.name}/{name}"
                seen[key] += 1
                key += f"#{seen[key]}" if seen[key] > 1 else ""
                run = run_replicas if isinstance(text, Replicas) else on_backend
                why = outcome(lambda r=run, t=text: r(args.eval, t, pathlib.Path(scratch)), checks) if text else "not a program for a compiler"
                there = None
                if isinstance(text, str) and (args.all_xla or (why and not args.no_xla)):
                    there = outcome(lambda t=text: xla(t), checks) or "as expected"
                found[key] = {"here": why or "as expected", "xla": there}
                if why:
                    left.append((key, why, there))
    counts = collections.Counter(key.split("/")[0] for key in found)
    bad = collections.Counter(key.split("/")[0] for key, _, _ in left)
    for part, total in counts.items():
        print(f"{part}: {total - bad[part]} of {total} as expected")
    print(f"passed by XLA's CPU and not here: {sum(there == 'as expected' for _, _, there in left)}")
    for key, why, there in left:
        print(f"  {key}: {why}\n      XLA's CPU: {there}")
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
