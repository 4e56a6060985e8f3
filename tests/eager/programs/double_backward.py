"""Double backward through custom functions, and the checks of derivatives."""

import stagrad as torch
from stagrad.autograd import Function, grad, gradcheck, gradgradcheck
from stagrad.autograd.function import once_differentiable


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad_out):
        (x,) = ctx.saved_tensors
        return grad_out * 3 * x**2


class Once(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_out):
        (x,) = ctx.saved_tensors
        return grad_out * 2 * x


x = torch.tensor([1.0, 2.0], dtype=torch.double, requires_grad=True)
print(Cube.apply(x))
(first,) = grad(Cube.apply(x).sum(), x, create_graph=True)
print(first)
(second,) = grad(first.sum(), x)
print(second)
print(gradcheck(Cube.apply, x), gradgradcheck(Cube.apply, x))
(first,) = grad(Once.apply(x).sum(), x, create_graph=True)
print(first.detach())
