"""Hooks on saved tensors, anomaly mode, and hooks on nodes."""

import stagrad as torch

sizes = []


def pack(x):
    sizes.append(tuple(x.shape))
    return x.detach() * 1


def unpack(x):
    sizes.append("unpacked")
    return x


a = torch.ones(3, requires_grad=True)
b = torch.ones(3, requires_grad=True) * 2
with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    y = a * b
y.sum().backward()
print(a.grad, sizes)
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 3
y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: print(grad_inputs, grad_outputs))
y.grad_fn.register_prehook(lambda grad_outputs: print("before", grad_outputs))
y.sum().backward()
with torch.autograd.detect_anomaly(check_nan=True):
    z = torch.tensor([4.0, 1.0], requires_grad=True)
    torch.sqrt(z).sum().backward()
    print(z.grad)
