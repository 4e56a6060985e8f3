"""Readers for ADBench's input files."""

from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy


@dataclass(frozen=True)
class Mixture:
    """A Gaussian mixture, its data, and the two parameters of its Wishart prior."""

    alphas: numpy.ndarray
    means: numpy.ndarray
    factors: numpy.ndarray  # per component: log diagonal, then the lower triangle column by column
    x: numpy.ndarray
    gamma: float
    m: int


@dataclass(frozen=True)
class Scene:
    """Cameras that observe points, each observation with a weight and a feature position."""

    cameras: numpy.ndarray
    points: numpy.ndarray
    weights: numpy.ndarray
    observations: numpy.ndarray  # rows of camera number, point number
    features: numpy.ndarray

    def first(self, count: int) -> "Scene":
        """Return the scene with its first `count` observations alone."""
        names = ("weights", "observations", "features")
        return replace(self, **{name: getattr(self, name)[:count] for name in names})


@dataclass(frozen=True)
class Hand:
    """A skinned hand model and measured points to fit it to."""

    parents: list[int]
    relative: numpy.ndarray
    inverse: numpy.ndarray
    vertices: numpy.ndarray  # homogeneous
    bone_weights: numpy.ndarray
    triangles: numpy.ndarray
    correspondences: numpy.ndarray
    points: numpy.ndarray
    barycentric: numpy.ndarray | None
    pose: numpy.ndarray


@dataclass(frozen=True)
class Network:
    """The parameters, initial state and character sequence of an LSTM."""

    main: numpy.ndarray
    extra: numpy.ndarray
    state: numpy.ndarray
    sequence: numpy.ndarray


class _Numbers:
    """The numbers of a text, taken from its front."""

    def __init__(self, text: str):
        self._words = iter(text.split())

    def integer(self) -> int:
        return int(next(self._words))

    def array(self, *shape: int) -> numpy.ndarray:
        count = int(numpy.prod(shape))
        return numpy.array([float(word) for word in islice(self._words, count)]).reshape(shape)


def mixture(path: Path) -> Mixture:
    """Read a mixture."""
    numbers = _Numbers(path.read_text())
    d, k, n = (numbers.integer() for _ in range(3))
    alphas, means = numbers.array(k), numbers.array(k, d)
    factors, x = numbers.array(k, d * (d + 1) // 2), numbers.array(n, d)
    gamma, m = numbers.array(2)
    return Mixture(alphas, means, factors, x, float(gamma), int(m))


def scene(path: Path) -> Scene:
    """Read a scene; the file gives one camera, point, weight and feature, which all share."""
    numbers = _Numbers(path.read_text())
    cameras, points, observations = (numbers.integer() for _ in range(3))
    camera, point, weight = numbers.array(11), numbers.array(3), numbers.array(1)
    order = numpy.arange(observations)
    return Scene(
        cameras=numpy.tile(camera, (cameras, 1)),
        points=numpy.tile(point, (points, 1)),
        weights=numpy.tile(weight, observations),
        observations=numpy.stack([order % cameras, order % points], 1),
        features=numpy.tile(numbers.array(2), (observations, 1)),
    )


def hand(model: Path, path: Path, with_barycentric: bool) -> Hand:
    """Read the hand model in a folder and the problem in a file."""
    bones = _rows(model / "bones.txt")
    vertices = _rows(model / "vertices.txt")
    weights = numpy.zeros((len(vertices), len(bones)))
    for vertex, row in enumerate(vertices):
        for position in range(int(row[8])):
            bone, weight = row[9 + 2 * position : 11 + 2 * position]
            weights[vertex, int(bone)] = float(weight)
    numbers = _Numbers(path.read_text())
    points, angles = numbers.integer(), numbers.integer()
    measured = numbers.array(points, 4)
    return Hand(
        parents=[int(row[1]) for row in bones],
        relative=numpy.array([row[2:18] for row in bones], float).reshape(-1, 4, 4),
        inverse=numpy.array([row[18:34] for row in bones], float).reshape(-1, 4, 4),
        vertices=numpy.array([[*row[:3], 1.0] for row in vertices], float),
        bone_weights=weights,
        triangles=numpy.loadtxt(model / "triangles.txt", int, delimiter=":"),
        correspondences=measured[:, 0].astype(int),
        points=measured[:, 1:],
        barycentric=numbers.array(points, 2) if with_barycentric else None,
        pose=numbers.array(angles),
    )


def _rows(path: Path) -> list[list[str]]:
    return [line.split(":") for line in path.read_text().splitlines() if line.strip()]


def network(path: Path) -> Network:
    """Read an LSTM."""
    numbers = _Numbers(path.read_text())
    layers, characters, bits = (numbers.integer() for _ in range(3))
    shapes = (2 * layers, 4 * bits), (3, bits), (2 * layers, bits), (characters, bits)
    return Network(*(numbers.array(*shape) for shape in shapes))
