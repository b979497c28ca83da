"""A case under construction: what a drift plants, and the ways in which the same thing can be written."""
import random
from dataclasses import dataclass, field

from template import fill, indent

# What a program passes for a drift's parameter before its loop begins.
INITIAL = {"$rate": "0.1", "$amount": "2", "$mode": '"fit"', "$tick": "1", "$start": "2", "$k": "2", "$reps": "2", "$room": "12", "$cache": "0.0",
           "$guard": "False", "$verbose": "False", "$train": "True", "$options": "types.SimpleNamespace($knob=0.5)"}


@dataclass
class Truth:
    """What is planted. Labels name lines; `accepted` are the answers that PROBLEM.md makes right."""
    best: str                     # the most specific class
    accepted: tuple               # every class that counts as right
    origin: tuple = ("origin",)   # labels of the lines where the cause enters the program
    source: tuple = ("source",)   # labels of the lines to edit
    compiled: tuple = ("$step",)  # the functions that are compiled again
    planted: int = None           # how many recompiles; None: whatever the framework counts, one or more
    fragments: bool = False       # the cause adds programs of its own instead of recompiling the step
    benign_counts: bool = False   # an answer marked benign is right too


@dataclass
class Plan:
    program: object
    style: object                 # the idioms of this case
    clean: bool                   # the twin without the drift
    rng: random.Random
    steps: int = 9
    size: int = 8
    params: list = field(default_factory=list)
    static: list = field(default_factory=list)
    enter: list = field(default_factory=list)
    hidden: list = field(default_factory=list)
    loss: list = field(default_factory=list)
    module: list = field(default_factory=list)    # definitions beside the loop
    step_module: list = field(default_factory=list)  # and beside the step, for both
    before: list = field(default_factory=list)
    pre: list = field(default_factory=list)
    post: list = field(default_factory=list)
    call: str = None              # what the loop calls instead of the jitted step
    arguments: list = field(default_factory=list)
    sizes: str = None             # rows of batch $i
    whole: int = None             # cut batches out of a data set with this many rows
    call_label: str = ""
    devices: int = 1              # how many virtual devices the script needs
    flag: str = "True"            # the mode of a program that trains and evaluates
    prepared: bool = False        # the drift reads the batch as NumPy: do not move it to the device
    # torch.compile only
    compile_option: str = ""      # further arguments of torch.compile
    attributes: list = field(default_factory=list)  # lines at the end of __init__
    global_lines: list = field(default_factory=list)  # definitions in the module of the compiled class
    closure: bool = False         # compile a function with a closure around the module
    around_call: str = None       # a `with` statement around the call
    truth: Truth = None

    def pick(self, *choices):
        return self.rng.choice(choices)

    def vary(self, expression, constant):
        """The expression of $i that drifts, or, in the clean twin, one that does not."""
        return constant if self.clean else expression

    def decide(self, value, expression, constant):
        """Code that decides `value` for step $i, as the style writes it; returns the expression to pass."""
        return self.style.decide(self, value, self.vary(expression, constant))

    def add_parameter(self, name, static):
        self.params.append(name)
        if static:
            self.static.append(name)

    def step_text(self):
        extra = "".join(", " + name for name in self.params)
        slots = {"ENTER": self.enter, "HIDDEN": self.hidden, "LOSS": self.loss, "JIT": self.style.decorator(self)}
        given = "".join(f", {name}={INITIAL.get(name)}" for name in self.params)
        together = ", ".join(["$batch", *self.params]) + ","
        return fill(self.program.text, slots, {"P": extra, "A": extra, "D": given, "T": together, "F": self.flag})


def helper_or_inline(plan, name, arguments, body, result):
    """Statements written in place, or as a function that the loop calls, as the style has it. The call is where the loop
    takes it from there, as the call of a schedule is."""
    if plan.style.has("helper"):
        plan.module += ["", f"def {name}({', '.join(arguments)}):", *indent(body), f"    return {result}"]
        plan.pre.append(f"{result} = {name}({', '.join(arguments)})  #@source")
    else:
        plan.pre += body
