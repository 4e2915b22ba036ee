"""Flow in a cavity whose lid moves: the Navier-Stokes equations with pressure by iteration."""

import numpy as np

SIZES = {"small": (41, 20, 10), "large": (400, 20, 50)}  # points along an edge, steps, iterations of pressure


def initialize(n, steps, iterations):
    u, v, p = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    return steps, iterations, u, v, p, 2.0 / (n - 1), 1e-5


RHO, NU = 1.0, 0.1


def source(b, u, v, dt, dx):
    b[1:-1, 1:-1] = RHO * (
        1 / dt * ((u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx) + (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dx))
        - ((u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx)) ** 2
        - 2 * ((u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dx) * (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * dx))
        - ((v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dx)) ** 2
    )


def pressure(iterations, p, dx, b):
    for _ in range(iterations):
        pn = p.copy()
        p[1:-1, 1:-1] = ((pn[1:-1, 2:] + pn[1:-1, :-2]) * dx**2 + (pn[2:, 1:-1] + pn[:-2, 1:-1]) * dx**2) / (
            4 * dx**2
        ) - dx**2 / 4 * b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0


def kernel(steps, iterations, u, v, p, dx, dt):
    b = np.zeros_like(u)
    for _ in range(steps):
        un, vn = u.copy(), v.copy()
        source(b, u, v, dt, dx)
        pressure(iterations, p, dx, b)
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[:-2, 1:-1])
            - dt / (2 * RHO * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
            + NU * dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, :-2])
            + NU * dt / dx**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[:-2, 1:-1])
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[:-2, 1:-1])
            - dt / (2 * RHO * dx) * (p[2:, 1:-1] - p[:-2, 1:-1])
            + NU * dt / dx**2 * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, :-2])
            + NU * dt / dx**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[:-2, 1:-1])
        )
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = 1
        v[0, :] = 0
        v[-1, :] = 0
        v[:, 0] = 0
        v[:, -1] = 0
    return u, v, p
