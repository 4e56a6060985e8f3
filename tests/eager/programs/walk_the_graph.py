"""grad_fn and next_functions lead back to the leaves."""

import stagrad as torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor(0.5, requires_grad=True)
x = torch.tensor([3.0, 4.0])
loss = ((w * x).sum() + b).sigmoid().log()


def walk(node, depth=0):
    if node is None:
        return
    print("  " * depth + node.name())
    for child, _ in node.next_functions:
        walk(child, depth + 1)


walk(loss.grad_fn)
leaf = loss.grad_fn.next_functions[0][0].next_functions[0][0].next_functions[1][0]
print(leaf.variable is b)
