"""Makes case (seed, index): the script with its planted drift, the clean twin, and the truth about both.

    python3 tests/truth/generate.py SEED INDEX FOLDER      writes one case, to look at
"""
import json
import pathlib
import random
import re
import sys

import drifts_jax
import drifts_torch
import programs_jax
import programs_lib
import programs_models
import programs_torch
from idioms import Style
from plan import Plan
from template import render

LANES = {
    "jax": (programs_jax.PROGRAMS + programs_lib.PROGRAMS + programs_models.PROGRAMS, drifts_jax),
    "torch": (programs_torch.PROGRAMS, drifts_torch),
}


def jax_files(plan):
    """The sections of a JAX case, put together as its style says; a list of lines for each file."""
    style = plan.style
    count, rows = style.constant("$steps", plan.steps), style.constant("$rows", plan.size)
    style.add_noise(plan)
    jitted, call = style.jit_lines(plan)
    around, call = style.call_lines(plan, call, "".join(", " + name for name in plan.params))
    if not plan.prepared and plan.rng.random() < 0.4:
        plan.pre.append("$batch = jax.tree.map(jnp.asarray, $batch)")
    arguments = "".join(", " + argument for argument in plan.arguments)
    if plan.static and plan.call is None and style.static_option(plan).startswith(", static_argnames") and plan.rng.random() < 0.5:
        arguments = ", " + ", ".join(f"{name}={value}" for name, value in zip(plan.params, plan.arguments))
    body = [*plan.pre, f"$state, $metric = {call}($state, $batch{arguments})  #@call{plan.call_label}", *plan.post, "$history.append($metric)"]
    main = ["$state = $init()", "$history = []", *plan.before, *style.loop_lines(body, count), 'print("mean", sum(float($h) for $h in $history) / len($history))']
    imports = style.imports() + plan.program.imports.split("\n")
    library = [*plan.step_module, *plan.step_text(), *jitted, *around]
    loop = [*style.config_lines(), *plan.module, *style.loader_lines(plan, rows, count), *style.main_lines(main)]
    if style.has("other-module"):
        exported = ["$step", "$init", "$make_batch"] + [line.split(" = ")[0] for line in jitted if line.startswith("$") and " = " in line]
        exported += ["$invoke"] if around else []
        exported += [name for line in plan.step_module for name in re.findall(r"^\$\w+|\b[A-Z]\w+(?=,|$)", line)]
        files = {"core_part.py": imports + [""] + library, "main.py": imports + [f"from core_part import {', '.join(exported)}", ""] + loop}
    else:
        files = {"main.py": imports + [""] + library + loop}
    return {path: style.comment(style.aliases(lines)) for path, lines in files.items()}


def build(seed, index, lane, program, drift, clean):
    style = Style(random.Random(f"{seed}/{index}/style"))
    plan = Plan(program, style, clean, random.Random(f"{seed}/{index}/drift"), steps=9 if lane == "jax" else 6)
    module = LANES[lane][1]
    module.DRIFTS[drift](plan)
    files = jax_files(plan) if lane == "jax" else drifts_torch.files(plan)
    names = style.names(files)
    texts, labels = render(files, names, style.unit())
    truth = plan.truth
    at = lambda wanted: [place for label in wanted for place in labels.get(label, [])]
    compiled = [names.get(name[1:], name[1:]) if name.startswith("$") else name for name in truth.compiled]
    if "$step" in truth.compiled and "advance" in names and lane == "jax":
        compiled.append(names["advance"])
    return texts, {"best": truth.best, "accepted": list(truth.accepted), "origin": at(truth.origin), "source": at(truth.source), "compiled": compiled,
                   "planted": truth.planted, "fragments": truth.fragments, "benign_counts": truth.benign_counts, "devices": plan.devices,
                   "idioms": module.tags(style) if lane == "torch" else style.tags()}


def choose(seed, index, lanes=("jax", "torch"), only=None):
    """Lane, program and drift of a case. One case in eight is torch.compile's, which takes longer."""
    rng = random.Random(f"{seed}/{index}/case")
    lane = "torch" if "torch" in lanes and (rng.random() < 0.125 or "jax" not in lanes) else "jax"
    programs, module = LANES[lane]
    wanted = [drift for drift in module.DRIFTS if only in (None, drift)]
    if not wanted:
        lane = "jax" if lane == "torch" else "torch"
        programs, module = LANES[lane]
        wanted = [drift for drift in module.DRIFTS if only in (None, drift)]
    while True:
        program, drift = rng.choices(programs, [program.weight for program in programs])[0], rng.choice(wanted)
        if module.possible(drift, program):
            return lane, program, drift


def write_case(seed, index, folder, lanes=("jax", "torch"), only=None):
    """Writes folder/drift, folder/clean and folder/truth.json; returns the truth."""
    lane, program, drift = choose(seed, index, lanes, only)
    folder = pathlib.Path(folder)
    case = {"seed": seed, "index": index, "lane": lane, "framework": program.framework, "program": program.name, "drift": drift}
    for kind in ("drift", "clean"):
        texts, truth = build(seed, index, lane, program, drift, kind == "clean")
        where = folder / kind
        where.mkdir(parents=True, exist_ok=True)
        for path, text in texts.items():
            compile(text, path, "exec")
            (where / path).write_text(text)
        if kind == "drift":
            case.update(truth)
        else:
            case["clean_compiled"] = truth["compiled"]
    (folder / "truth.json").write_text(json.dumps(case, indent=1) + "\n")
    return case


if __name__ == "__main__":
    print(json.dumps(write_case(sys.argv[1], int(sys.argv[2]), sys.argv[3]), indent=1))
