"""k-means on handwritten digits

Lloyd's algorithm, started several times from different digits; the run with the least inertia
(sum of squared distances to the centres) wins. The pictures are the ten centres that it found
among 1797 scans of 8 by 8 pixels, without having been told what a digit is.
"""

import numpy
import treadle as np

SIZES = {
    "cpu": {"starts": 8, "rounds": 25},
    "cuda": {"starts": 8, "rounds": 25},
    "small": {"starts": 2, "rounds": 3},
}
TOLERANCE = 1e-3
WHY = "float64; a digit half way between two centres may fall to either (share that differs)"

CLUSTERS = 10


def setup(starts, rounds):
    from sklearn.datasets import load_digits

    digits = load_digits().data
    rng = numpy.random.default_rng(4)
    chosen = [digits[rng.choice(len(digits), CLUSTERS, replace=False)] for _ in range(starts)]
    return np.asarray(digits), [np.asarray(c) for c in chosen], rounds


def distances(points, centres):
    """Squared distances, one row a point and one column a centre."""
    return ((points[:, np.newaxis, :] - centres[np.newaxis, :, :]) ** 2).sum(axis=2)


def lloyd(points, centres, rounds):
    """Centres, labels and inertia after so many rounds."""
    for _ in range(rounds):
        labels = distances(points, centres).argmin(axis=1)
        member = (labels[:, np.newaxis] == np.arange(CLUSTERS)).astype(points.dtype)
        count = member.sum(axis=0)[:, np.newaxis]
        # A centre that lost all its points stays where it is.
        centres = np.where(count > 0, member.T @ points / np.maximum(count, 1), centres)
    final = distances(points, centres)
    return centres, final.argmin(axis=1), final.min(axis=1).sum()


def main(points, starts, rounds):
    runs = [lloyd(points, centres, rounds) for centres in starts]
    centres, labels, inertia = min(runs, key=lambda run: float(run[2]))
    return {"centres": centres, "labels": labels, "inertia": inertia}


def error(ours, numpys):
    """The share of digits with another label, or the relative error of the inertia if larger."""
    differ = numpy.mean(ours["labels"] != numpys["labels"])
    inertia = abs(ours["inertia"] - numpys["inertia"]) / numpys["inertia"]
    return max(float(differ), float(inertia))


def pictures(result, zoom=12):
    """The ten centres side by side, dark ink on white."""
    gap = numpy.full((8 * zoom, zoom), 255.0)
    row = [gap]
    for centre in result["centres"]:
        digit = 255 - 255 * (centre.reshape(8, 8) / 16)
        row += [digit.repeat(zoom, axis=0).repeat(zoom, axis=1), gap]
    return {"the ten centres": numpy.concatenate(row, axis=1).astype(numpy.uint8)}


if __name__ == "__main__":
    print(main(*setup(**SIZES["cpu"])))
