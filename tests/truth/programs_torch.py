"""Programs for torch.compile. The contract:

  class $Net(nn.Module)         forward($x{P}); <INIT> at the end of __init__, <ENTER> at the start of forward,
                                <HIDDEN> after `$hidden`, a float tensor
  $make($size)                  the input with `size` rows
"""
from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    name: str
    text: str
    framework: str = "torch"
    jit: str = "torch.compile"
    integer: bool = False
    weight: float = 1.0

    def needs(self):
        return {"torch"}


def dense(name, init, body):
    text = f'''
    class $Net(nn.Module):
        def __init__(self):
            super().__init__()
            {init}
            <INIT>

        def forward(self, $x{{P}}):  #@use_x
            <ENTER>
            $hidden = {body}  #@use_x
            <HIDDEN>
            return self.$head($hidden)

    def $make($size):
        return torch.randn($size, 8)
    '''
    return Program(name, text.replace("; ", "\n            "))


TAGGER = '''
    class $Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.$table = nn.Embedding(16, 8)
            self.$mix = nn.Linear(8, 8)
            <INIT>

        def forward(self, $x{P}):  #@use_x
            <ENTER>
            $hidden = torch.relu(self.$mix(self.$table($x)))  #@use_x
            <HIDDEN>
            return $hidden.mean(dim=1)

    def $make($size):
        return torch.randint(0, 16, ($size, 6))
'''

PROGRAMS = [
    dense("torch_mlp", "self.$body = nn.Linear(8, 16); self.$head = nn.Linear(16, 2)", "torch.relu(self.$body($x))"),
    dense("torch_norm", "self.$norm = nn.LayerNorm(8); self.$head = nn.Linear(8, 3)", "torch.nn.functional.gelu(self.$norm($x))"),
    dense("torch_gate", "self.$up = nn.Linear(8, 12); self.$gate = nn.Linear(8, 12); self.$head = nn.Linear(12, 4)",
          "torch.sigmoid(self.$gate($x)) * self.$up($x)"),
    dense("torch_softmax", "self.$query = nn.Linear(8, 8); self.$head = nn.Linear(8, 8)", "torch.softmax(self.$query($x), dim=-1) * $x"),
    dense("torch_low_rank", "self.$down = nn.Linear(8, 2, bias=False); self.$back = nn.Linear(2, 8, bias=False); self.$head = nn.Linear(8, 1)",
          "$x + self.$back(self.$down($x))"),
    dense("torch_fourier", "self.$scale = nn.Parameter(torch.ones(8)); self.$head = nn.Linear(8, 2)", "torch.sin($x * self.$scale) + torch.cos($x)"),
    Program("torch_tagger", TAGGER, integer=True),
]
