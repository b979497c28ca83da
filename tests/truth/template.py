"""Turns template text into Python files and finds the lines that a template labelled.

Templates are ordinary Python with three additions:
  $name       a name that an idiom may replace, the same way everywhere in the case
  #@label     at the end of a line: the line's label in the truth; never written to the script
  <SLOT>      alone on a line: replaced by the lines of that slot, at the same indentation
"""
import re
import textwrap

NAME = re.compile(r"\$([A-Za-z_]\w*)")
LABEL = re.compile(r"\s*#@(\w+)")
SLOT = re.compile(r"^(\s*)<([A-Z]+)>\s*$")


def lines_of(text):
    return textwrap.dedent(text).strip("\n").split("\n") if text.strip() else []


def indent(lines, levels=1):
    return ["    " * levels + line if line else line for line in lines]


def fill(text, slots, words):
    """Template text with its slots filled and {WORDS} replaced, as lines."""
    out = []
    for line in lines_of(text):
        slot = SLOT.match(line)
        if slot:
            out += [slot.group(1) + inner for inner in slots.get(slot.group(2), [])]
        else:
            out.append(line)
    for word, value in words.items():
        out = [line.replace("{" + word + "}", value) for line in out]
    return out


def names_in(files):
    found = []
    for lines in files.values():
        for line in lines:
            for name in NAME.findall(line):
                if name not in found:
                    found.append(name)
    return found


def render(files, names, unit):
    """Final text of each file and, for every label, the (file, line) pairs that carry it."""
    texts, labels = {}, {}
    for path, lines in files.items():
        done = []
        for number, line in enumerate(lines, 1):
            for label in LABEL.findall(line):
                labels.setdefault(label, []).append([path, number])
            line = NAME.sub(lambda m: names[m.group(1)], LABEL.sub("", line))
            depth = (len(line) - len(line.lstrip(" "))) // 4
            done.append(unit * depth + line.lstrip(" "))
        texts[path] = "\n".join(done) + "\n"
    return texts, labels
