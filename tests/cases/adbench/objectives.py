"""ADBench's objectives as NumPy functions; `np` is the namespace of the library under test."""

import itertools
import math

import numpy
from scipy.special import multigammaln

from tests.cases.gradbench import column_major_lower


def mixture_posterior(np, mixture):
    """Log posterior as a function of the mixture's alphas, means and inverse factors."""
    x, gamma, m = mixture.x, mixture.gamma, mixture.m
    (n, d), k = x.shape, len(mixture.alphas)
    positions = column_major_lower(d).ravel()
    dof = d + m + 1
    wishart = dof * d * math.log(gamma / math.sqrt(2)) - multigammaln(0.5 * dof, d)
    constant = -n * d * 0.5 * math.log(2 * math.pi) - k * wishart

    def sum_log_sum_exp(v, axis):
        shift = np.max(v, axis=axis, keepdims=True)
        return np.sum(np.log(np.sum(np.exp(v - shift), axis=axis, keepdims=True)) + shift)

    def posterior(alphas, means, factors):
        q, lower = factors[:, :d], factors[:, d:]
        padded = np.concatenate([lower, numpy.zeros((k, 1))], axis=1)
        triangles = padded[:, positions].reshape((k, d, d))
        centred = x[:, None, :] - means[None, :, :]
        z = np.exp(q) * centred + np.einsum("kij,nkj->nki", triangles, centred)
        sum_q = np.sum(q, axis=1)
        beta = alphas + sum_q - 0.5 * np.sum(z**2, axis=2)
        likelihood = sum_log_sum_exp(beta, 1) - n * sum_log_sum_exp(alphas, 0)
        squares = np.sum(np.exp(2 * q)) + np.sum(lower**2)
        return likelihood + 0.5 * gamma**2 * squares - m * np.sum(sum_q) + constant

    return posterior


def reprojection(np, features):
    """Weighted residuals, a pair for each observation's camera, point and weight."""

    def residuals(cameras, points, weights):
        rotation, centre = cameras[:, 0:3], cameras[:, 3:6]
        p = points - centre
        angle = np.sqrt(np.sum(rotation * rotation, axis=1, keepdims=True))
        a = rotation / angle
        cos, sin = np.cos(angle), np.sin(angle)
        cross = np.stack(
            [
                a[:, 1] * p[:, 2] - a[:, 2] * p[:, 1],
                a[:, 2] * p[:, 0] - a[:, 0] * p[:, 2],
                a[:, 0] * p[:, 1] - a[:, 1] * p[:, 0],
            ],
            axis=1,
        )
        along = a * np.sum(a * p, axis=1, keepdims=True)
        turned = p * cos + cross * sin + along * (1 - cos)
        image = turned[:, 0:2] / turned[:, 2:3]
        square = np.sum(image * image, axis=1, keepdims=True)
        distorted = image * (1 + cameras[:, 9:10] * square + cameras[:, 10:11] * square * square)
        return weights[:, None] * (distorted * cameras[:, 6:7] + cameras[:, 7:9] - features)

    return residuals


def hand_residuals(np, hand):
    """Distances of the measured points from the vertices they correspond to, given the pose."""
    vertices = _posed_vertices(np, hand)
    return lambda pose: hand.points - vertices(pose)[hand.correspondences]


def hand_surface_residuals(np, hand):
    """Distances of the measured points from points on triangles, given their coordinates too."""
    vertices = _posed_vertices(np, hand)
    corners = hand.triangles[hand.correspondences]

    def residuals(barycentric, pose):
        v = vertices(pose)
        a, b = barycentric[:, 0:1], barycentric[:, 1:2]
        first, second, third = (v[corners[:, corner]] for corner in range(3))
        return hand.points - (a * first + b * second + (1 - a - b) * third)

    return residuals


def _posed_vertices(np, hand):
    selection, base = _pose_layout(len(hand.parents))
    last_row = numpy.array([[0.0, 0.0, 0.0, 1.0]])

    def transform(angles):
        turned = np.concatenate([_euler_rotation(np, angles), numpy.zeros((3, 1))], axis=1)
        return np.concatenate([turned, last_row], axis=0)

    def vertices(pose):
        parameters = np.tensordot(selection, pose, axes=1) + base
        absolute = []
        for bone, parent in enumerate(hand.parents):
            relative = hand.relative[bone] @ transform(parameters[3 + bone])
            absolute.append(relative if parent == -1 else absolute[parent] @ relative)
        pairs = zip(absolute, hand.inverse, strict=True)
        bones = np.stack([bone @ inverse for bone, inverse in pairs])
        skinned = np.einsum("vb,bij,vj->vi", hand.bone_weights, bones, hand.vertices)[:, :3]
        turn = _axis_angle_rotation(np, parameters[0])
        return skinned @ (turn * parameters[1]).T + parameters[2]

    return vertices


def _pose_layout(bones):
    """Where the 26 pose parameters go: rows of global rotation, scale, translation, then bones."""
    selection = numpy.zeros((bones + 3, 3, 26))
    for row, first in ((0, 0), (2, 3)):
        selection[row, range(3), range(first, first + 3)] = 1
    parameter, row = 6, 5
    for _finger in range(5):
        for joint in range(3):
            selection[row, 0, parameter] = 1
            parameter += 1
            if joint == 0:
                selection[row, 1, parameter] = 1
                parameter += 1
            row += 1
        row += 1
    base = numpy.zeros((bones + 3, 3))
    base[1] = 1.0
    return selection, base


def _matrix(np, rows):
    return np.stack([np.stack(row) for row in rows])


def _euler_rotation(np, angles):
    """Rotation about x, then y, then z; the angles come in the order x, z, y."""
    one, zero = 1.0 + 0.0 * angles[0], 0.0 * angles[0]
    (cx, cz, cy), (sx, sz, sy) = np.cos(angles), np.sin(angles)
    about_x = _matrix(np, [[one, zero, zero], [zero, cx, -sx], [zero, sx, cx]])
    about_y = _matrix(np, [[cy, zero, sy], [zero, one, zero], [-sy, zero, cy]])
    about_z = _matrix(np, [[cz, -sz, zero], [sz, cz, zero], [zero, zero, one]])
    return about_z @ about_y @ about_x


def _axis_angle_rotation(np, vector):
    angle = np.sqrt(np.sum(vector * vector))
    x, y, z = (vector[axis] / angle for axis in range(3))
    s, c = np.sin(angle), np.cos(angle)
    return _matrix(
        np,
        [
            [x * x + (1 - x * x) * c, x * y * (1 - c) - z * s, x * z * (1 - c) + y * s],
            [x * y * (1 - c) + z * s, y * y + (1 - y * y) * c, y * z * (1 - c) - x * s],
            [x * z * (1 - c) - y * s, z * y * (1 - c) + x * s, z * z + (1 - z * z) * c],
        ],
    )


def network_loss(np, network):
    """Mean loss of an LSTM that predicts each next character of its sequence."""
    state, sequence = network.state, network.sequence
    rows, bits = state.shape

    def sigmoid(v):
        return 1.0 / (1.0 + np.exp(-v))

    def step(current, main, layer_input):
        """Advance all layers in `current` by one character; return the last layer's output."""
        for row in range(0, rows, 2):
            hidden, cell = current[row], current[row + 1]
            gates = np.concatenate([layer_input, hidden, layer_input, hidden])
            gates = gates * main[row] + main[row + 1]
            forget, ingate = sigmoid(gates[:bits]), sigmoid(gates[bits : 2 * bits])
            cell = cell * forget + ingate * np.tanh(gates[3 * bits :])
            hidden = sigmoid(gates[2 * bits : 3 * bits]) * np.tanh(cell)
            current[row], current[row + 1], layer_input = hidden, cell, hidden
        return layer_input

    def loss(main, extra):
        current = list(state)
        total = 0.0
        for character, following in itertools.pairwise(sequence):
            scores = step(current, main, character * extra[0]) * extra[1] + extra[2]
            normalizer = np.log(np.sum(np.exp(scores)) + 2.0)
            total = total + np.sum(following * (scores - normalizer))
        return -total / (bits * (len(sequence) - 1))

    return loss
