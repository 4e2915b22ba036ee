"""Horizontal diffusion of a weather model: a Laplacian, limited fluxes, and their divergence."""

import numpy as np

SIZES = {"small": (24, 24, 8), "large": (600, 600, 80)}  # i, j, levels


def initialize(ni, nj, nk):
    rng = np.random.default_rng(42)
    return rng.random((ni + 4, nj + 4, nk)), np.zeros((ni, nj, nk)), rng.random((ni, nj, nk))


def kernel(field, out, coeff):
    ni, nj = out.shape[0], out.shape[1]
    lap = 4.0 * field[1 : ni + 3, 1 : nj + 3, :] - (
        field[2 : ni + 4, 1 : nj + 3, :]
        + field[0 : ni + 2, 1 : nj + 3, :]
        + field[1 : ni + 3, 2 : nj + 4, :]
        + field[1 : ni + 3, 0 : nj + 2, :]
    )
    res = lap[1:, 1 : nj + 1, :] - lap[:-1, 1 : nj + 1, :]
    flx = np.where((res * (field[2 : ni + 3, 2 : nj + 2, :] - field[1 : ni + 2, 2 : nj + 2, :])) > 0, 0, res)
    res = lap[1 : ni + 1, 1:, :] - lap[1 : ni + 1, :-1, :]
    fly = np.where((res * (field[2 : ni + 2, 2 : nj + 3, :] - field[2 : ni + 2, 1 : nj + 2, :])) > 0, 0, res)
    out[:, :, :] = field[2 : ni + 2, 2 : nj + 2, :] - coeff * (
        flx[1:, :, :] - flx[:-1, :, :] + fly[:, 1:, :] - fly[:, :-1, :]
    )
    return out
