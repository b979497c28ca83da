"""What MLIR itself says about a module, in the shape stet-dump prints."""

from jaxlib.mlir import ir


def attribute_text(attributes, name):
    """The bindings have no Python class for some dense attributes (complex elements, i1 splats…) and
    say so with the attribute's text."""
    try:
        return attributes[name]
    except TypeError as error:
        message = str(error)
        start = message.index("(Attribute(") + len("(Attribute(")
        return message[start:message.rindex("))")]


class Walk:
    """Numbers values as stet-dump does: results of an operation, then its regions' arguments."""

    def __init__(self):
        self.ids = {}
        self.lines = []
        self.texts = {}

    def text(self, thing):
        """str() of types, attributes and locations, which are unique per context."""
        if isinstance(thing, str):
            return thing
        key = hash(thing), type(thing)
        known = self.texts.get(key)
        if known is not None and known[0] == thing:
            return known[1]
        text = str(thing)
        self.texts[key] = (thing, text)
        return text

    def define(self, value):
        self.ids[value] = len(self.ids)

    def op(self, op):
        line = {"name": op.name, "operands": [], "results": [], "attrs": [], "regions": []}
        self.lines.append((line, [v for v in op.operands]))
        for result in op.results:
            self.define(result)
            line["results"].append(self.text(result.type))
        attributes = op.attributes
        line["attrs"] = sorted([name, self.text(attribute_text(attributes, name))] for name in attributes)
        line["loc"] = self.text(op.location)
        for region in op.regions:
            blocks = []
            line["regions"].append(blocks)
            for block in region.blocks:
                args = []
                blocks.append(args)
                for arg in block.arguments:
                    self.define(arg)
                    args += [self.text(arg.type), self.text(arg.location)]
                count = 0
                for child in block.operations:
                    self.op(child.operation)
                    count += 1
                args.append(count)

    def finish(self):
        for line, operands in self.lines:
            line["operands"] = [self.ids[v] for v in operands]
        return [line for line, _ in self.lines]


def walk(module):
    w = Walk()
    w.op(module.operation)
    return w.finish()
