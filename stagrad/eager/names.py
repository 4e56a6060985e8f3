"""PyTorch's names for recorded operations, where its name is not the operation's own."""

_NAMES = {
    "absolute": "Abs", "add": "Add", "add_slice": "CopySlices", "arccos": "Acos",
    "arccosh": "Acosh", "arcsin": "Asin", "arcsinh": "Asinh", "arctan": "Atan",
    "arctan2": "Atan2", "arctanh": "Atanh", "astype": "ToCopy", "broadcast_to": "Expand",
    "concatenate": "Cat", "conjugate": "Conj", "divide": "Div", "exp2": "Exp2", "expm1": "Expm1",
    "fmod": "Fmod", "gather": "Index", "imag": "Select", "integer_power": "Pow",
    "logaddexp": "Logaddexp", "make_complex": "Complex", "masked_divide": "Div",
    "masked_multiply": "Mul", "matmul": "Mm", "multiply": "Mul", "negative": "Neg", "pad": "Pad",
    "positive": "Clone", "power": "Pow", "real": "Select", "remainder": "Remainder",
    "reshape": "View", "scatter": "IndexPut", "scatter_add": "IndexPut", "set_slice": "CopySlices",
    "sign": "Sign", "slice": "Slice", "square": "Pow", "subtract": "Sub", "transpose": "Permute",
    "where": "Where",
}  # fmt: skip


def backward_name(operation: str) -> str:
    """Return the name of the node that an operation leaves: `MulBackward0`.

    >>> backward_name("multiply"), backward_name("exp"), backward_name("log_gamma")
    ('MulBackward0', 'ExpBackward0', 'LogGammaBackward0')
    """
    name = _NAMES.get(operation)
    if name is None:
        name = "".join(part[:1].upper() + part[1:] for part in operation.split("_"))
    return f"{name}Backward0"
