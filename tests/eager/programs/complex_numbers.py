"""Complex tensors, their parts, and gradients with respect to them."""

import stagrad as torch

z = torch.tensor([1 + 2j, 3 - 4j], requires_grad=True)
print(z, z.dtype, z.real, z.imag)
print(z.abs(), z.angle(), z.conj(), z.shape)
loss = (z * z.conj()).real.sum()
print(loss)
loss.backward()
print(z.grad)
w = torch.complex(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0]))
print(w * z, w @ z, (w * 2).sum(), torch.exp(w), w**2)
x = torch.tensor([0.5, 1.0, -1.0, 0.25], requires_grad=True)
spectrum = torch.fft.fft(x)
print(spectrum)
spectrum.abs().pow(2).sum().backward()
print(x.grad)
print(torch.fft.ifft(spectrum).real, torch.fft.rfft(x.detach()).shape)
print(torch.polar(torch.tensor([1.0]), torch.tensor([0.5])), torch.is_complex(z))
print(torch.zeros(2, dtype=torch.complex128), torch.tensor(1j), torch.tensor([1.5 + 1e-5j]))
