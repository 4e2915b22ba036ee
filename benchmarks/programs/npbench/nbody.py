"""Stars under their gravity, all pairs by broadcasting, leapfrog steps, energy of each step."""

import numpy as np

SIZES = {"small": (25, 20), "large": (800, 25)}  # stars, steps

G, SOFTENING, DT = 1.0, 0.1, 0.01


def initialize(n, steps):
    rng = np.random.default_rng(42)
    mass = 20.0 * np.ones((n, 1)) / n
    pos = rng.random((n, 3))
    vel = rng.random((n, 3))
    return steps, mass, pos, vel - np.mean(mass * vel, axis=0) / np.mean(mass)


def acceleration(pos, mass):
    x, y, z = pos[:, 0:1], pos[:, 1:2], pos[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inv = dx**2 + dy**2 + dz**2 + SOFTENING**2
    positive = inv > 0
    inv[positive] = inv[positive] ** (-1.5)
    ax = G * (dx * inv) @ mass
    ay = G * (dy * inv) @ mass
    az = G * (dz * inv) @ mass
    return np.hstack((ax, ay, az))


def energy(pos, vel, mass):
    kinetic = 0.5 * np.sum(mass * vel**2)
    x, y, z = pos[:, 0:1], pos[:, 1:2], pos[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inv = np.sqrt(dx**2 + dy**2 + dz**2)
    inv[inv > 0] = 1.0 / inv[inv > 0]
    potential = G * np.sum(np.triu(-(mass * mass.T) * inv, 1))
    return kinetic, potential


def kernel(steps, mass, pos, vel):
    kinetic = np.ndarray(steps + 1, dtype=np.float64)
    potential = np.ndarray(steps + 1, dtype=np.float64)
    acc = acceleration(pos, mass)
    kinetic[0], potential[0] = energy(pos, vel, mass)
    for i in range(steps):
        vel += acc * DT / 2.0
        pos += vel * DT
        acc = acceleration(pos, mass)
        vel += acc * DT / 2.0
        kinetic[i + 1], potential[i + 1] = energy(pos, vel, mass)
    return kinetic, potential
