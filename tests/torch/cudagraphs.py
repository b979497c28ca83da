"""CUDA-graph trees of torch.compile without a GPU: torch's own tree manager decides, checks addresses and writes its
trace and its logs; only what a capture does on the device is stood in for.

Inductor wraps a compiled graph with cudagraphify_impl, whose manager records one graph for each combination of
integer inputs and of static addresses. The four functions below are recorded again for the four reasons there are.
"""

import itertools
import sys
from collections import defaultdict

import torch
import torch._dynamo
import torch._inductor.config as config
from torch._guards import CompileContext
from torch._inductor import cudagraph_trees as trees
from torch._inductor.cudagraph_utils import get_placeholder_info

torch.cuda.synchronize = lambda *_: None  # no device to wait for
if not hasattr(torch._C, "_tensors_data_ptrs_at_indices_equal"):  # of CUDA builds; the comment at its call says what it is
    torch._C._tensors_data_ptrs_at_indices_equal = lambda tensors, pointers, indices: all(
        tensors[i].data_ptr() == pointers[i] for i in indices)


class Node(trees.CUDAGraphNode):
    """What a recording remembers; the capture itself is an eager run."""

    def __init__(self, wrapped, graph_id, parent, inputs, pool, device, stacks, stream, mode, compile_id):
        self.wrapped_function, self.id, self.children = wrapped, graph_id, defaultdict(list)
        self._parent = None
        self.rerecord_if_static_inputs_change = True
        self.static_input_data_ptrs = [
            i.data_ptr() if isinstance(i, torch.Tensor) and n in wrapped.static_input_idxs else None
            for n, i in enumerate(inputs)]
        managed = [n for n in wrapped.static_input_idxs if "managed" in wrapped.placeholders[n].name]
        self.cudagraph_managed_idxs = managed
        self.preserved_aliased_inputs = [True] * len(inputs)
        self.tensor_static_input_idxs = [n for n in wrapped.static_input_idxs if n not in managed]
        self.expected_dead_indices_before_graph = self.expected_dead_indices_after_graph = []
        self.path_weakrefs = []
        with trees.dynamo_timed_cudagraph("CUDAGraphNode.record", compile_id, mode):
            self.recording_outputs = wrapped.model(list(inputs))
        inputs.clear()

    def run(self, inputs):
        return self.wrapped_function.model(inputs)


class Manager(trees.CUDAGraphTreeManager):
    def __init__(self):
        self.roots = defaultdict(list)
        self.ids_to_funcs, self.ids_to_stack_traces = {}, {}
        self.warmed_up_functions = set()
        self.warned_functions, self.warned_mutation = set(), set()
        self.stream = self.cuda_graphs_thread_pool = None
        self.graph = object()
        self.graph_counter, self.func_counter = itertools.count(0), itertools.count(0)
        self.non_cudagraph_managed_mutation_hint = defaultdict(dict)
        self.num_rerecord = defaultdict(lambda: defaultdict(int))
        self.path_state, self.device_index, self.current_node = trees.ExecutionState.NONE, 0, None
        self.current_gen, self.debug_fail_counter = -1, 0
        self.id_to_mode, self.id_to_compile_id = {}, {}
        self.running_forwards_with_pending_backwards, self.mode = False, None

    def run(self, new_inputs, function_id):
        out = super().run(new_inputs, function_id)
        self.current_node, self.path_state = None, trees.ExecutionState.NONE  # each step its own generation
        return out

    def run_eager(self, new_inputs, function_id):
        self.warmed_up_functions.add(function_id)
        return self.ids_to_funcs[function_id].model(new_inputs)


class Container:
    manager = Manager()

    def get_tree_manager(self):
        return self.manager

    def add_strong_reference(self, function):
        pass


trees.CUDAGraphNode = Node
trees.get_container = lambda device: Container()


def backend(static):
    """Inductor's wrapping of a graph whose inputs with `static` in their names keep their addresses."""

    def compile_graph(graph, example):
        placeholders = get_placeholder_info(graph.graph)
        indices = [n for n, p in enumerate(placeholders) if any(s in p.name for s in static)]

        def model(inputs):
            out = graph(*inputs)
            inputs.clear()
            return out

        model.__name__ = "call"
        compile_id, wrapped = CompileContext.current_compile_id(), None

        def run(*inputs):  # as compile_fx.cudagraphify: with the first real inputs
            nonlocal wrapped
            if wrapped is None:
                wrapped = trees.cudagraphify_impl(
                    model, list(inputs), indices, device_index=0, is_backward=False, is_inference=True,
                    stack_traces=None, constants=(), placeholders=tuple(placeholders), mutated_input_idxs=(),
                    compile_id=compile_id)
            return wrapped(list(inputs))

        return run

    return compile_graph


def weight_moves():
    """A parameter is replaced between steps: its address was recorded."""
    weight = torch.ones(8)

    @torch.compile(backend=backend(["weight"]))
    def scale(x, weight):
        return x * weight

    for step in range(6):
        if step in (3, 4):
            weight = weight.clone()
        scale(torch.ones(8), weight)


def sizes_vary():
    """A graph for each size, and a warning from the ninth on."""

    @torch.compile(backend=backend([]), dynamic=True)
    def double(x):
        return x * 2

    for size in range(4, 16):
        double(torch.ones(size))
        double(torch.ones(size))


def state_moves():
    """An output of another graph is given from elsewhere each time: torch gives up."""

    @torch.compile(backend=backend(["managed"]))
    def step(x, managed):
        return x + managed

    with config.patch({"triton.cudagraph_unexpected_rerecord_limit": 2}):
        kept = []
        for _ in range(8):
            kept.append(torch.ones(4))
            step(torch.ones(4), kept[-1])


def steady():
    """One recording: nothing to tell."""

    @torch.compile(backend=backend(["weight"]))
    def apply(x, weight):
        return x - weight

    weight = torch.ones(8)
    for _ in range(4):
        apply(torch.ones(8), weight)


if __name__ == "__main__":
    for name in sys.argv[1:] or ["weight_moves", "sizes_vary", "state_moves", "steady"]:
        globals()[name]()
