"""Rows of Fourier transforms."""

import numpy as np

from tests.op_cases.case import Case, rng

NOISE = rng("fft")
TOLERANT = {"rtol": 1e-12, "atol": 1e-13, "tags": frozenset({"any zero sign"})}


def reals(*shape: int) -> np.ndarray:
    return NOISE.standard_normal(shape)


def complexes(*shape: int) -> np.ndarray:
    return reals(*shape) + 1j * reals(*shape)


def case(name: str, operand: np.ndarray, covers: tuple[str, ...] = (), **arguments: object) -> Case:
    shown = ", ".join(f"{key}={value}" for key, value in arguments.items())
    transform = getattr(np.fft, name)
    return Case(
        name=f"{name}({operand.dtype}{list(operand.shape)}, {shown})",
        function=lambda x: transform(x, **arguments),
        operands=(operand,),
        covers=covers,
        dtypes=("float32",),
        **TOLERANT,
    )


NORMS = ("backward", "ortho", "forward")

CASES = [
    case("fft", complexes(5), ("fft",)),
    case("fft", reals(4)),
    case("ifft", complexes(5), ("ifft",)),
    case("ifft", reals(2, 4), axis=0),
    *(
        case(name, operand, norm=norm)
        for name, operand in (
            ("fft", complexes(2, 3)),
            ("ifft", complexes(4)),
            ("rfft", reals(5)),
            ("rfft", reals(6)),
            ("irfft", complexes(4)),
            ("hfft", complexes(4)),
            ("ihfft", reals(6)),
            ("fft2", reals(2, 3)),
            ("irfft2", complexes(3, 3)),
            ("rfftn", reals(2, 4)),
        )
        for norm in NORMS
    ),
    *(case("fft", complexes(2, 4, 3), n=n, axis=1) for n in (1, 3, 6)),
    *(case("ifft", reals(4), n=n) for n in (2, 7)),
    *(
        case("rfft", reals(2, 5), ("rfft", "irfft"), n=n, axis=axis)
        for n in (1, 2, 5, 8)
        for axis in (0, 1)
    ),
    *(case("irfft", complexes(3, 2), ("irfft", "rfft"), n=n, axis=0) for n in (1, 2, 4, 5, 8)),
    case("irfft", reals(4)),
    case("hfft", complexes(3, 2), n=6, axis=0),
    case("ihfft", reals(3, 2), n=4, axis=0),
    case("fft2", complexes(2, 3, 4)),
    case("fft2", complexes(3, 4), s=(4, 2), axes=(1, 0)),
    case("ifft2", complexes(3, 2)),
    case("fftn", complexes(2, 3, 2)),
    case("fftn", reals(2, 3, 2), axes=(0, 2)),
    case("fftn", complexes(2, 3), s=(3, -1), axes=(0, 1)),
    case("fftn", complexes(2, 3), axes=(0, 0)),
    case("ifftn", complexes(2, 3, 2), axes=(-1, 0)),
    case("ifftn", complexes(2, 3), s=(4, 2), axes=(0, 1), norm="ortho"),
    case("rfft2", reals(2, 3, 4)),
    case("rfftn", reals(2, 3, 4)),
    case("rfftn", reals(4, 3), s=(3, 4), axes=(0, 1)),
    case("rfftn", reals(4, 3), axes=(1, 0)),
    case("irfft2", complexes(2, 3)),
    case("irfftn", complexes(2, 3, 3)),
    case("irfftn", complexes(4, 3), s=(3, 5), axes=(0, 1)),
    case("irfftn", complexes(4, 3), s=(4, -1), axes=(0, 1)),
    case("fftshift", reals(5)),
    case("fftshift", complexes(2, 5), axes=1),
    case("fftshift", reals(4, 5), axes=(0, 1)),
    case("ifftshift", reals(5)),
    case("ifftshift", reals(2, 5), axes=-1),
    Case(
        name="fft of integers",
        function=lambda x: (np.fft.fft(x), np.fft.rfft(x), np.fft.irfft(x)),
        operands=(np.arange(5),),
        order=0,
        **TOLERANT,
    ),
    Case(
        name="fft power spectrum",
        function=lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2 * np.fft.fftfreq(4, 0.5)),
        operands=(reals(4),),
        **TOLERANT,
    ),
    Case(
        name="fft convolution",
        function=lambda x, y: np.fft.irfft(np.fft.rfft(x, 8) * np.fft.rfft(y, 8), 8),
        operands=(reals(5), reals(4)),
        **TOLERANT,
    ),
]
