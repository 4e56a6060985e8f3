"""What holds for every element of a value, whatever the numbers: enough to leave a mask out.

A program's inputs are taken to be finite, and sums and products not to overflow: where that fails,
an infinity is an infinity with or without a mask.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Facts:
    """Claims about all elements of one value; False says nothing.

    Those about signs are true of NaN, too; `finite` excludes it.
    """

    finite: bool = False
    nonnegative: bool = False
    nonpositive: bool = False
    nonzero: bool = False

    @property
    def positive(self) -> bool:
        """Whether all elements are above zero."""
        return self.nonnegative and self.nonzero


def regular(*operands: Facts, **params: object) -> Facts:
    """Return the facts of a function that is finite at all finite points."""
    return Facts(finite=all(operand.finite for operand in operands))


def regular_nonnegative(*operands: Facts, **params: object) -> Facts:
    """Return the facts of a function that is finite at all finite points, and never negative."""
    return Facts(finite=regular(*operands).finite, nonnegative=True)


def one_of(*operands: Facts, **params: object) -> Facts:
    """Return the facts of a choice among values."""
    return Facts(
        finite=all(operand.finite for operand in operands),
        nonnegative=all(operand.nonnegative for operand in operands),
        nonpositive=all(operand.nonpositive for operand in operands),
        nonzero=all(operand.nonzero for operand in operands),
    )


def one_sign(x: Facts, **params: object) -> Facts:
    """Return the facts of what keeps the sign of all numbers of one sign, such as their sum."""
    return Facts(x.finite, x.nonnegative, x.nonpositive)


def total(*operands: Facts) -> Facts:
    """Return the facts of a sum: terms of one sign cannot cancel."""
    signs = one_of(*operands)
    grows = signs.nonnegative or signs.nonpositive
    return Facts(
        finite=signs.finite,
        nonnegative=signs.nonnegative,
        nonpositive=signs.nonpositive,
        nonzero=grows and any(operand.nonzero for operand in operands),
    )


def opposite(x: Facts) -> Facts:
    """Return the facts of minus a value."""
    return Facts(x.finite, x.nonpositive, x.nonnegative, x.nonzero)


def difference(x: Facts, y: Facts) -> Facts:
    """Return the facts of a difference."""
    return total(x, opposite(y))


def product(x: Facts, y: Facts) -> Facts:
    """Return the facts of a product, which may vanish by underflow."""
    return Facts(
        finite=x.finite and y.finite,
        nonnegative=(x.nonnegative and y.nonnegative) or (x.nonpositive and y.nonpositive),
        nonpositive=(x.nonnegative and y.nonpositive) or (x.nonpositive and y.nonnegative),
    )


def quotient(x: Facts, y: Facts) -> Facts:
    """Return the facts of a quotient."""
    signs = product(x, y)
    return Facts(signs.finite and y.nonzero, signs.nonnegative, signs.nonpositive)


def inverse(x: Facts) -> Facts:
    """Return the facts of one over a value."""
    return Facts(x.finite and x.nonzero, x.nonnegative, x.nonpositive)


def magnitude(*operands: Facts) -> Facts:
    """Return the facts of a distance from zero."""
    finite = regular(*operands).finite
    return Facts(finite, nonnegative=True, nonzero=any(operand.nonzero for operand in operands))


def root(x: Facts) -> Facts:
    """Return the facts of a square root."""
    return Facts(x.finite and x.nonnegative, nonnegative=True, nonzero=x.nonzero)


def logarithm(x: Facts) -> Facts:
    """Return the facts of a logarithm."""
    return Facts(finite=x.finite and x.positive)


def exponential(x: Facts) -> Facts:
    """Return the facts of an exponential, which overflows for large operands and never else."""
    return Facts(finite=x.finite and x.nonpositive, nonnegative=True)
