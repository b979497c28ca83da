from typing import NamedTuple

import numpy as np


class GraphsTuple(NamedTuple):
    nodes: np.ndarray
    edges: np.ndarray
    senders: np.ndarray
    receivers: np.ndarray
    n_node: np.ndarray
    n_edge: np.ndarray
    globals: np.ndarray


def molecule(rng):
    n = int(rng.integers(4, 10))
    nodes = np.eye(5, dtype=np.float32)[rng.integers(0, 5, n)]
    pairs = [(i, i + 1) for i in range(n - 1)]
    pairs += [(int(a), int(b)) for a, b in rng.integers(0, n, (int(rng.integers(0, 4)), 2)) if a != b]
    s, r = np.array(pairs + [(b, a) for a, b in pairs], np.int32).T
    bond = rng.integers(1, 4, len(s)).astype(np.float32)[:, None]
    y = float(nodes[:, 0].sum() + 0.3 * bond.sum() / 2 > 5.0)
    return GraphsTuple(nodes, bond, s, r, np.array([n], np.int32), np.array([len(s)], np.int32), np.array([[y]], np.float32))


def batch(graphs):
    offs = np.cumsum([0] + [len(g.nodes) for g in graphs[:-1]])
    cat = lambda f: np.concatenate([getattr(g, f) for g in graphs])
    return GraphsTuple(
        cat("nodes"), cat("edges"),
        np.concatenate([g.senders + o for g, o in zip(graphs, offs)]).astype(np.int32),
        np.concatenate([g.receivers + o for g, o in zip(graphs, offs)]).astype(np.int32),
        cat("n_node"), cat("n_edge"), cat("globals"),
    )


def pad_with_graphs(g, n_node, n_edge, n_graph):
    pn, pe, pg = n_node - len(g.nodes), n_edge - len(g.edges), n_graph - len(g.n_node)
    fill = lambda a, k: np.concatenate([a, np.zeros((k,) + a.shape[1:], a.dtype)])
    dump = np.full(pe, len(g.nodes), np.int32)
    extra = lambda k: np.array([k] + [0] * (pg - 1), np.int32)
    return GraphsTuple(
        fill(g.nodes, pn), fill(g.edges, pe),
        np.concatenate([g.senders, dump]), np.concatenate([g.receivers, dump]),
        np.concatenate([g.n_node, extra(pn)]), np.concatenate([g.n_edge, extra(pe)]), fill(g.globals, pg),
    )


class GraphLoader:
    def __init__(self, graphs, batch_size, seed):
        self.graphs, self.batch_size = graphs, batch_size
        self.rng = np.random.default_rng(seed)

    def __iter__(self):
        order = self.rng.permutation(len(self.graphs))
        for i in range(0, len(order) - self.batch_size + 1, self.batch_size):
            g = batch([self.graphs[j] for j in order[i : i + self.batch_size]])
            nodes = self.batch_size * 10 + 1
            bonds = self.batch_size * 24 + 1
            yield pad_with_graphs(g, nodes, bonds, self.batch_size + 1)
