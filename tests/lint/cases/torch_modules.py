"""forward of modules: compiled by whoever uses them."""
import random
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_varlen_func
from flash_attn.bert_padding import unpad_input


class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.overflow = 0
        self.seen = 0
        self.pos = 0
        self.register_buffer("count", torch.zeros(1))
        self.total = torch.zeros(1)
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

    def forward(self, hidden_states: torch.Tensor, mask=None, flag: bool = False, n_heads: int = 8):
        self.overflow += 1  # expect: python-counter
        self.seen = self.seen + 1  # expect: python-counter
        self.overflow -= 2  # expect: python-counter
        self.pos += hidden_states.shape[1]
        self.count += 1  # clean: python-counter
        self.total += hidden_states.sum()  # clean: python-counter
        if self.config.use_bias:  # clean: value-branch
            hidden_states = hidden_states + 1
        if flag and mask is not None:  # clean: value-branch
            hidden_states = hidden_states * mask
        if (hidden_states > 3).any():  # expect: value-branch
            hidden_states = hidden_states.clamp(max=3)
        for layer in self.layers:  # clean: python-loop
            hidden_states = layer(hidden_states)
        for i in range(n_heads):  # clean: python-loop
            hidden_states = hidden_states + i
        for i in range(hidden_states.shape[1]):  # expect: python-loop
            hidden_states = hidden_states + i
        past = hidden_states[:, self.pos:]  # expect: slice-start
        return self.helper(hidden_states, past)

    def helper(self, x, past):
        n = x.argmax().item()  # expect: host-sync
        ids = torch.arange(n)  # expect: size-from-value
        seen = F.one_hot(ids)  # expect: size-from-value
        idx = x.nonzero()  # expect: mask-gather
        k = idx.size(0)  # expect: dim-readback
        top = x.topk(k)  # expect: topk-k
        if random.random() > 0.5:  # expect: traced-side-effect
            return top
        return seen, past

    def generate(self, x):
        if x.sum() > 3:  # clean: value-branch
            return x.item()  # clean: host-sync
        return x.cpu()  # clean: host-sync


class Attention(nn.Module):
    def forward(self, query: torch.Tensor, attention_mask: torch.Tensor, cu_seqlens=None):
        q, idx, cu = unpad_input(query, attention_mask)  # expect: varlen
        out = flash_attn_varlen_func(q, q, q, cu, cu)  # clean: varlen
        packed = self.packed(out, cu)
        other = self.varlen(out), self.unpadded(out)
        if not torch.jit.is_tracing() and (query > 0).all():  # clean: value-branch
            query = query + 1
        if torch.compiler.is_compiling():
            query = query * 2
        else:
            print(query.max().item())  # clean: host-sync, traced-print
        return packed, idx, other

    def packed(self, out, lengths):
        return nn.utils.rnn.pack_padded_sequence(out, lengths)  # expect: varlen

    def varlen(self, q):
        return flash_attn_varlen_func(q, q, q, None, None)  # expect: varlen

    def unpadded(self, q):
        return unpad_input(q, None)  # expect: varlen

    @torch.compiler.disable
    def outside(self, x):
        return x.item()  # clean: host-sync


def check_targets(targets):
    if targets.isnan().any():  # clean: value-branch
        raise ValueError(int(targets.isnan().sum()))
    return int((targets == 0).sum())  # clean: host-sync


def count_zeros(targets):
    return int((targets == 0).sum())  # expect: host-sync


class ChecksOnce(nn.Module):
    def __init__(self):
        super().__init__()
        self.checked = False
        self.fresh = True

    def forward(self, x: torch.Tensor, labels: torch.Tensor):
        if not self.checked:
            self.checked = True
            check_targets(labels)
        if self.fresh:
            print(x.max().item())  # clean: host-sync, traced-print
            self.fresh = False
        if not self.training:
            self.seen = True
            count_zeros(labels)
        first = True
        if first:  # a name of the call: the block runs in each
            x = x + x.max().item()  # expect: host-sync
            first = False
        return x


def host_pack(x, mask):
    q = unpad_input(x, mask)  # clean: varlen
    r = flash_attn_varlen_func(x, x, x)  # clean: varlen
    s = nn.utils.rnn.pack_padded_sequence(x, mask)  # clean: varlen
    return q, r, s


class Plain:
    def forward(self, x: torch.Tensor):
        y = unpad_input(x, None)  # clean: varlen
        if x.sum() > 0:  # clean: value-branch
            return flash_attn_varlen_func(x, x, x)  # clean: varlen
        self.n += 1  # clean: python-counter
        return y


class Augments(nn.Module):
    def forward(self, x: torch.Tensor, names):
        shift = torch.randint(0, 9, (1,)).item()  # clean: host-sync
        x = torch.roll(x, shift)
        key = hash(tuple(x.tolist()))  # clean: host-sync
        text = f"{x.sum().item()}"  # clean: host-sync
        names[key] = text + str(x.max().item())  # clean: host-sync
        limit = x.min().item()  # expect: host-sync
        return self.on_host(x) + limit

    def places(self, x: torch.Tensor, mask):
        where = (x > 0).nonzero().flatten().tolist()  # expect: host-sync
        found = (x > 1).nonzero()  # expect: mask-gather
        policy = int(torch.randint(4, ()))  # clean: host-sync
        if isinstance(mask, torch.Tensor):
            mask = mask.cpu().numpy()  # clean: host-sync
        return found, where[policy], mask

    def on_host(self, x: torch.Tensor):
        self.places(x, x)
        return x.cpu().numpy()  # clean: host-sync


@torch.compile
def compiled_draw(x):
    return torch.roll(x, torch.randint(0, 9, (1,)).item())  # expect: host-sync


class Versioned(nn.Module):
    def forward(self, x: torch.Tensor):
        major, minor = torch.__version__.split("+")[0].split(".")[:2]
        if int(major) >= 2 and int(minor) > 4:  # clean: host-sync
            x = x + 1
        return x


class Kept(nn.Module):
    def forward(self, x: torch.Tensor, keep: int | torch.Tensor):
        if x.shape[0] == 1:
            return x
        elif not isinstance(keep, int):
            return x[:, keep]
        elif keep > 1:  # clean: value-branch
            return x[:, -keep:]
        return x


class Asked(nn.Module):
    def forward(self, x: torch.Tensor, keep: int | torch.Tensor):
        if isinstance(keep, int):
            return x
        elif keep > 1:  # expect: value-branch
            return x + 1
        return x


class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = None

    def extend(self, x):
        self.table = torch.cat([self.table, x])

    def forward(self, x: torch.Tensor):
        self.extend(x)
        return x + self.table[self.table.size(0) // 2 - x.size(0) :]  # clean: slice-start


@dataclass
class Parts:
    tokens: torch.Tensor
    sizes: list[int]


def digest(parts: Parts):
    counts = [int(sum(parts.sizes)), parts.tokens.numel()]  # clean: host-sync
    return torch.tensor(counts, device=parts.tokens.device)


def total(parts: Parts):
    return int(sum(parts.tokens))  # expect: host-sync


class Digest(nn.Module):
    def forward(self, x: torch.Tensor, sizes):
        parts = Parts(tokens=x, sizes=sizes)
        return digest(parts) + total(parts)


class Split(nn.Module):
    def check(self, size: int):
        torch._check(size <= 5)

    def forward(self, x: torch.Tensor, images):
        n = x.sum().item()  # clean: host-sync
        self.check(n)
        torch._check(x[x > 0].numel() == 4)  # clean: mask-gather, dim-readback
        if torch.supa.is_available():  # clean: value-branch
            x = x + 1
        for i in torch.randperm(3):  # clean: python-loop
            x = x * self.scales[i]
        sizes = []
        for image in images:  # clean: python-loop
            torch._assert(len(image.shape) == 3, "images have three dimensions")
            sizes.append(image.shape)
        return x, torch.zeros((n, 5))  # clean: size-from-value


def empty_like(x):
    return torch.empty_like(x) if isinstance(x, torch.Tensor) else np.empty_like(x)  # clean: host-sync


class Empty(nn.Module):
    def forward(self, x: torch.Tensor):
        x = x + np.zeros_like(x.sum())  # expect: host-sync
        for _ in range(int(torch.randint(1, 4, (1,)).item())):  # clean: python-loop
            x = x * 2
        return empty_like(x)
