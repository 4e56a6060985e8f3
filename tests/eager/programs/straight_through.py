"""A rounding that lets gradients through, and one that marks its mask as not differentiable."""

import stagrad as torch


class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, grad):
        return grad.clone()


class Clip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        mask = x > 0
        ctx.mark_non_differentiable(mask)
        ctx.save_for_backward(mask)
        return x * mask, mask

    @staticmethod
    def backward(ctx, grad, _):
        (mask,) = ctx.saved_tensors
        return grad * mask


x = torch.tensor([-0.7, 0.4, 1.6], requires_grad=True)
print(Round.apply(x))
Round.apply(x).sum().backward()
print(x.grad)
value, mask = Clip.apply(x)
print(value, mask)
value.pow(2).sum().backward()
print(x.grad)
