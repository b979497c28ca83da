"""An eager operation and a compiled function; prints the bits of what came back."""
import torch
import torch_tpu._loader

torch_tpu._loader._init_device("tpu")  # there is no TPU on the bus to find


@torch.compile
def double(x):
    return x * 2 + 1


x = torch.arange(6, dtype=torch.float32).reshape(2, 3).to("tpu")
print((x + x).cpu().numpy().tobytes().hex())
for _ in range(3):
    x = double(x)
    print(x.cpu().numpy().tobytes().hex())
