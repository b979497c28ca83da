from collections import defaultdict


class Bus:
    def __init__(self):
        self._subs = defaultdict(list)
        self.history = []

    def on(self, topic):
        def register(fn):
            self._subs[topic].append(fn)
            return fn
        return register

    def emit(self, topic, **kw):
        self.history.append(topic)
        for fn in self._subs[topic]:
            fn(**kw)


class Blackboard(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__
