"""Products of arrays, linear algebra and complex numbers."""

import numpy
from numpy import array

from tests.cases.pitfalls.record import theme

einsum = theme("einsum")
matmul = theme("matmul")
linalg = theme("linalg")
complex = theme("complex")


@einsum("P042", "einsum_trace", lambda: (array([[1.0, 2.0], [3.0, 4.0]]),), 5.0, [[[1, 0], [0, 1]]])
def _(np, x):
    return np.einsum("ii->", x)


@einsum(
    "P043",
    "einsum_diagonal_operand",
    lambda: (array([[1.0, 2.0], [3.0, 4.0]]), array([[5.0, 6.0], [7.0, 8.0]])),
    array([29.0, 42.0]),
    [[[5, 50], [8, 80]], [[21, 0], [0, 43]]],
    cotangent=array([1.0, 10.0]),
)
def _(np, x, w):
    return np.einsum("nd,nn->d", x, w)


@einsum(
    "P044",
    "einsum_size_one_label",
    lambda: (array([2.0, 3.0]), array([4.0])),
    20.0,
    [[4, 4], [5]],
    description="a label of extent 1 broadcasts; its gradient keeps extent 1",
)
def _(np, x, y):
    return np.einsum("i,i->", x, y)


@einsum(
    "P045",
    "einsum_repeated_label_not_last",
    lambda: (numpy.arange(12.0).reshape(2, 2, 3),),
    array([[0.0, 1.0, 2.0], [9.0, 10.0, 11.0]]),
    [array([[[1.0, 2, 3], [0, 0, 0]], [[0, 0, 0], [4, 5, 6]]])],
    cotangent=array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
)
def _(np, x):
    return np.einsum("iij->ij", x)


@matmul(
    "P046",
    "matmul_broadcast_batches",
    lambda: (numpy.arange(12.0).reshape(2, 1, 2, 3), numpy.arange(9.0).reshape(3, 3, 1)),
    816.0,
    [array([9.0, 12.0, 15.0]), array([[18.0], [22.0], [26.0]])],
    description="batch dims (2,1) and (3,) broadcast; both gradients are summed back",
)
def _(np, a, b):
    return np.sum(a @ b)


@matmul(
    "P047",
    "vector_matrix_vector",
    lambda: (array([1.0, 2.0]), array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), array([1.0, 0.0, -1.0])),
    -6.0,
    [[-2, -2], [[1, 0, -1], [2, 0, -2]], [9, 12, 15]],
)
def _(np, v, m, u):
    return (v @ m) @ u


@matmul(
    "P048",
    "matmul_zero_inner_dimension",
    lambda: (numpy.zeros((2, 0)), numpy.zeros((0, 3))),
    numpy.ones((2, 3)),
    [numpy.zeros((2, 0)), numpy.zeros((0, 3))],
    cotangent=numpy.ones((2, 3)),
)
def _(np, a, b):
    return a @ b + 1.0


@linalg(
    "P054",
    "det_of_singular_2x2",
    lambda: (array([[1.0, 2.0], [2.0, 4.0]]),),
    0.0,
    [[[4, -2], [-2, 1]]],
    note="cofactor matrix. jax right; torch 2.13 returns zeros; autograd raises",
)
def _(np, a):
    return np.linalg.det(a)


@linalg(
    "P055",
    "slogdet_negative_determinant",
    lambda: (array([[0.0, 2.0], [1.0, 3.0]]),),
    0.6931471805599453,
    [[[-1.5, 0.5], [1, 0]]],
)
def _(np, a):
    return np.linalg.slogdet(a)[1]


@linalg(
    "P056",
    "solve_vector_right_hand_side",
    lambda: (array([[2.0, 1.0], [1.0, 3.0]]), array([1.0, 2.0])),
    6.2,
    [[[0.28, 0.84], [-0.76, -2.28]], [-1.4, 3.8]],
)
def _(np, a, b):
    return np.sum(np.linalg.solve(a, b) * np.array([1.0, 10.0]))


@linalg(
    "P057",
    "logdet_via_cholesky",
    lambda: (array([[4.0, 1.0], [1.0, 3.0]]),),
    2.3978952727983707,
    [[[3 / 11, -1 / 11], [-1 / 11, 4 / 11]]],
    status="convention",
    note="gradient is symmetrised, so it equals inv(A). torch and jax agree; "
    "the literal LAPACK map gives the doubled lower triangle",
)
def _(np, a):
    return 2.0 * np.sum(np.log(np.diagonal(np.linalg.cholesky(a))))


@linalg(
    "P058",
    "eigvalsh_offdiagonal",
    lambda: (array([[2.0, 1.0], [1.0, 3.0]]),),
    3.618033988749895,
    [[[0.276393202250021, 0.447213595499958], [0.447213595499958, 0.723606797749979]]],
    status="convention",
    note="v v^T, symmetrised (torch, jax); autograd doubles the lower triangle",
)
def _(np, a):
    return np.linalg.eigvalsh(a)[1]


@linalg(
    "P059",
    "expm_through_degenerate_eigh",
    lambda: (array([[2.0, 0.0], [0.0, 2.0]]),),
    14.7781121978613,
    [7.38905609893065],
    status="stretch",
    note="gauge-invariant spectral function of a repeated eigenvalue: gradient e^2 in every entry; "
    "torch, jax, autograd NaN (1/(w_i-w_j))",
)
def _(np, a):
    w, v = np.linalg.eigh(a)
    return np.sum((v * np.exp(w)) @ v.T)


@linalg(
    "P060",
    "nuclear_norm_repeated_singular_values",
    lambda: (array([[2.0, 0.0], [0.0, 2.0], [0.0, 0.0]]),),
    4.0,
    [[[1, 0], [0, 1], [0, 0]]],
    description="singular values only: U V^T, no 1/(s_i^2-s_j^2) may be formed",
)
def _(np, a):
    return np.sum(np.linalg.svd(a, compute_uv=False))


@complex(
    "P052",
    "real_through_complex",
    lambda: (array([2.0, -1.0]),),
    4.0,
    [[9, 0]],
    description="Re((x+i)^3) = x^3 - 3x; gradient of a real input is real in every convention",
)
def _(np, x):
    return np.sum(np.real((x + 1j) ** 3))


@complex(
    "P053",
    "squared_modulus",
    lambda: (array([3 + 4j, -1j]),),
    26.0,
    [[6 + 8j, -2j]],
    status="convention",
    note="2z (steepest ascent, torch). jax and autograd give the conjugate",
)
def _(np, z):
    return np.sum(np.real(z) ** 2 + np.imag(z) ** 2)


@complex(
    "P088",
    "parseval_through_fft",
    lambda: (array([1.0, 2.0, 3.0, 4.0]),),
    120.0,
    [[8, 16, 24, 32]],
    description="real input, complex interior, real output; optional if fft is not provided",
)
def _(np, x):
    return np.sum(np.abs(np.fft.fft(x)) ** 2)
