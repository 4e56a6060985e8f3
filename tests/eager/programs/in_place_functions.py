"""In-place forms, out=, and Functions that write into their input."""

import stagrad as torch
from stagrad.autograd import Function


class Double(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(2)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x + 0
z = Double.apply(y)
print(y, z is y, y.grad_fn.name())
z.sum().backward()
print(x.grad)
t = torch.arange(4.0)
print(t.add_(1), t.mul_(2).sub_(1), t.div_(2), t.pow_(2), t.sqrt_(), t.neg_(), t.abs_())
print(t.clamp_(0.6, 2), t.zero_(), t.fill_(3), t.copy_(torch.arange(4)), t.exp_())
t[1:3] = 7
t[t > 5] *= 2
print(t, t._version)
t += 1
t -= 0.5
t *= 2
t /= 4
print(t)
out = torch.empty(0)
torch.add(t, 1, out=out)
print(out, torch.sum(t, 0, out=torch.empty(())))
m = torch.eye(3)
m[1] = torch.tensor([4.0, 5.0, 6.0])
m[:, 2] += 10
print(m.fill_diagonal_(0))
b = torch.zeros(2, 2)
b.index_fill_(0, torch.tensor([1]), 5.0).masked_fill_(torch.eye(2).bool(), -1)
print(b, b.index_copy_(0, torch.tensor([0]), torch.ones(1, 2)))
w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
v = w * 2
v[0] = w[2] * 10
v.mul_(w)
v.sum().backward()
print(v, w.grad)
