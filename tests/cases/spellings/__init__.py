"""Operators of PyTorch that NumPy has no function for, spelled as a NumPy user would write them.

Each function takes the arguments of the operator of that name. They serve the samples that
`data/opinfo.json` gives no spelling for; `UNSPELLED` says why the remaining ones have none here.
"""

from tests.cases.spellings import algebra, arrays, layers, losses, windows

SPELLINGS = {
    **arrays.SPELLINGS,
    **algebra.SPELLINGS,
    **layers.SPELLINGS,
    **losses.SPELLINGS,
    **windows.SPELLINGS,
}

NO_AXIS = "PyTorch treats a number as an array of one axis here; to NumPy it has none"
UNSPELLED = {
    "mean": NO_AXIS,
    "logsumexp": NO_AXIS,
    "cumsum": NO_AXIS,
    "cumprod": NO_AXIS,
    "cummax": NO_AXIS,
    "topk": NO_AXIS,
    "kthvalue": NO_AXIS,
    "gather": NO_AXIS,
    "index_select": NO_AXIS,
    "index_add": NO_AXIS,
    "index_copy": NO_AXIS,
    "index_fill": NO_AXIS,
    "scatter_add": NO_AXIS,
    "cat": "PyTorch drops an empty array of another number of axes; NumPy refuses it",
    "tensordot": "PyTorch sums an axis of extent 1 against a longer one; NumPy refuses it",
    "einsum": "PyTorch sums over an ellipsis that the output lacks; NumPy refuses it",
    "linalg.svd": "the vectors that complete the basis are anybody's choice",
    "nn.functional.grid_sample": "NumPy has no image warp, and SciPy's is defined otherwise",
    "nn.functional.interpolate.bilinear": "NumPy resizes no images, and SciPy does it otherwise",
    "nn.functional.interpolate.nearest": "NumPy resizes no images, and SciPy does it otherwise",
}
