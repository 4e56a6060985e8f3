"""Functions with two inputs, with non-tensor arguments, and with setup_context."""

import stagrad as torch
from stagrad.autograd import Function, gradcheck


class Scale(Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.factor, None


class Product(Function):
    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        print("needs", ctx.needs_input_grad)
        return grad_output * y, grad_output * x


x = torch.tensor([1.0, -2.0], requires_grad=True)
y = torch.tensor([3.0, 4.0])
print(Scale.apply(x, 2.5))
print(Product.apply(x, y))
Product.apply(Scale.apply(x, 2.5), y).sum().backward()
print(x.grad)
a = torch.tensor([0.3, 0.7], dtype=torch.double, requires_grad=True)
b = torch.tensor([0.1, 0.2], dtype=torch.double, requires_grad=True)
print(gradcheck(lambda a: Scale.apply(a, 3.0), (a,)))
print(torch.autograd.gradcheck(torch.mul, (a, b), eps=1e-6, atol=1e-4))
