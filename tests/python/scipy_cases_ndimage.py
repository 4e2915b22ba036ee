"""Cases of scipy.ndimage."""

import numpy as np
from scipy_side import Case

MODULES = ("ndimage",)
RNG = np.random.default_rng(3)
A = RNG.standard_normal((13, 17))
B = RNG.standard_normal((5, 6, 7)).astype("f4")
C = (RNG.random((9, 11)) * 255).astype("u1")
M = RNG.random((14, 15)) > 0.4
Z = A + 1j * A[::-1]
W = RNG.standard_normal((3, 4))
ST = np.array([[1, 1, 0], [0, 1, 1]], bool)
WIDE = RNG.standard_normal((60, 50))  # SciPy's spline filter is not exact for short axes and mode reflect
MODES = ("reflect", "mirror", "nearest", "wrap", "constant")
ALL_MODES = (*MODES, "grid-mirror", "grid-wrap", "grid-constant")
CASES = {}


def add(name, *args, **kw):
    """A case: name of arrays (the arguments that are NumPy arrays) and others."""
    options = {k: kw.pop(k) for k in ("rtol", "atol", "dtype", "null") if k in kw}
    options = {"rtol": 1e-11, "atol": 1e-12, **options}
    if isinstance(args[0], np.ndarray) and args[0].dtype == "f4":
        options["atol"] = 1e-5

    def call(sp, xp):
        given = [xp.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
        keywords = {k: xp.asarray(v) if isinstance(v, np.ndarray) else v for k, v in kw.items()}
        return getattr(sp.ndimage, name)(*given, **keywords)

    CASES.setdefault(f"ndimage.{name}", []).append(Case(call, **options))


def filters():
    for a in (A, B, C, Z):
        for mode in MODES:
            add("correlate1d", a, [1, 2.5, -1, 0.5], mode=mode, cval=1.5, axis=0, origin=1)
        add("convolve1d", a, [1, 2.5j, -1, 0.5] if a is Z else [1, 2.5, -1, 0.5])
        add("gaussian_filter", a, 1.3)
        add("gaussian_filter1d", a, 1.3, order=3, mode="nearest")
        add("uniform_filter", a, 4, mode="wrap")
        add("uniform_filter1d", a, 3, axis=0)
        for name in ("laplace", "prewitt", "sobel"):
            add(name, a)
    add("gaussian_filter", B, (1.2, 2.2), axes=(0, 2), mode=["wrap", "reflect"])
    add("gaussian_filter", A[:5, :5], 9.3, null=True)
    for a in (A, B):
        for name in ("gaussian_laplace", "gaussian_gradient_magnitude"):
            add(name, a, 1.1)
        w = W if a is A else W[None]
        for mode in MODES:
            add("correlate", a, w, mode=mode, cval=1.5)
        add("convolve", a, w, origin=-1 if a is A else (0, -1, 1))
        for name in ("minimum_filter", "maximum_filter", "median_filter"):
            add(name, a, 3, mode="constant", cval=0.5)
            add(name, a, footprint=ST if a is A else ST[None], mode="nearest")
        add("rank_filter", a, -2, 3)
        add("percentile_filter", a, 30, 4, mode="mirror")
    add("correlate", Z, W * 1j + 1, null=True)
    add("median_filter", A, (10, 11))
    add("median_filter", C, 5)
    add("median_filter", C[:4, :5], 3, null=True)
    add("minimum_filter1d", A, 4, origin=1)
    add("maximum_filter1d", C, 4, mode="wrap")
    add("generic_filter", A, np.std, 3)
    add("generic_filter1d", A, lambda x, out: np.copyto(out, x[2:] - x[:-2]), 3)

    for name in ("generic_laplace", "generic_gradient_magnitude"):
        CASES[f"ndimage.{name}"] = [Case(lambda sp, xp, name=name: getattr(sp.ndimage, name)(xp.asarray(A), sp.ndimage.sobel))]


def transforms():
    for order in (2, 3, 4, 5):
        for mode in ("mirror", "reflect", "grid-wrap"):
            add("spline_filter", WIDE, order, mode=mode)
    add("spline_filter1d", A, 3, axis=0)
    add("spline_filter1d", Z[:, :2], 5, axis=-1, null=True)
    for order in range(6):
        at = RNG.uniform(-25, 40, (2, 30))
        for mode in ALL_MODES if order in (0, 1, 3) else ("constant",):
            near = 1e-5 if mode in ("nearest", "reflect", "grid-mirror") else 1e-10  # SciPy's coefficients again
            add("map_coordinates", WIDE, at, order=order, mode=mode, cval=1.5, rtol=near, atol=near)
    for mode in ("constant", "nearest", "grid-wrap"):
        add("shift", WIDE, (2.3, -1), mode=mode)
        add("zoom", WIDE[:20], (0.5, 1.7), order=1, mode=mode)
        add("rotate", B, 30, axes=(0, 2), order=1, mode=mode)
    add("zoom", WIDE, 1.5)
    add("zoom", C, 2, order=0, grid_mode=True, mode="grid-constant")
    add("rotate", WIDE, 33.0)
    add("rotate", A, -90, reshape=False, null=True)
    add("affine_transform", WIDE, [0.5, 2.0], offset=1.0)
    add("affine_transform", Z, np.array([[0.9, 0.3], [-0.2, 1.1]]), offset=(1.0, -2.3))
    add("affine_transform", A, np.array([[0.9, 0.3, 1], [-0.2, 1.1, 2], [0, 0, 1]]), output_shape=(4, 5), output="f4", atol=1e-5)
    for name in ("fourier_gaussian", "fourier_uniform", "fourier_shift", "fourier_ellipsoid"):
        for a in (A, B.astype("c8")):
            add(name, a, 1.5)
        add(name, Z, (1.5, 2.0), n=30)


def morphology():
    mask = M[::-1]
    for name in ("binary_erosion", "binary_dilation", "binary_opening", "binary_closing"):
        add(name, M, null=True)
        add(name, M, ST, iterations=2, origin=(0, 1))
        add(name, M, iterations=3, border_value=1)
        add(name, M, mask=mask, iterations=-1)
        add(name, M, axes=(1,))
    add("binary_hit_or_miss", M, ST)
    add("binary_propagation", M & mask, mask=M)
    add("binary_fill_holes", M)
    names = "grey_erosion grey_dilation grey_opening grey_closing morphological_gradient morphological_laplace white_tophat"
    for name in (*names.split(), "black_tophat"):
        add(name, A, (2, 3), mode="wrap")
        add(name, C, 3)
        add(name, A, structure=W, footprint=np.abs(W) > 0.4)
    for a in (M, np.ones((3, 4)), B > -1.5):
        add("distance_transform_edt", a)
        add("distance_transform_edt", a, sampling=(0.5, 2, 1.3)[: a.ndim])
    add("distance_transform_edt", M[:5], null=True)
    CASES["ndimage.generate_binary_structure"] = Case(lambda sp, xp: sp.ndimage.generate_binary_structure(3, 2))
    CASES["ndimage.iterate_structure"] = Case(
        lambda sp, xp: sp.ndimage.iterate_structure(sp.ndimage.generate_binary_structure(2, 1), 3)
    )


LABELS = np.array([[0, 1, 1, 2, 2], [0, 0, 1, 5, 2], [3, 3, 0, 5, 5]])
X = RNG.standard_normal(LABELS.shape)


def objects():
    for a in (A > 0, B > 0, np.zeros((3, 4)), np.ones((3, 4)), M):
        add("label", a)
        add("label", a, np.ones((3,) * a.ndim), output="i8")
    add("label", M[:6, :6], null=True)
    add("find_objects", LABELS)
    add("find_objects", LABELS, 2, null=True)
    add("value_indices", LABELS)
    sums = ("sum", "sum_labels", "mean", "variance", "standard_deviation", "minimum", "maximum", "median")
    for x in (X, (X * 100).astype("i8")):
        for index in (None, 2, [5, 1, 2, 1], np.array([[1, 2], [3, 5]])):
            for name in sums:
                add(name, x, LABELS, index, null=name == "variance")
            if x is X:
                if np.ndim(index) < 2:
                    for name in ("minimum_position", "maximum_position", "extrema", "center_of_mass"):
                        add(name, x, LABELS, index, dtype=False, null=np.ndim(index) == 1)
        for name in (*sums, "extrema"):
            add(name, x, dtype=name != "extrema")
    add("histogram", X, -2, 2, 7)
    add("histogram", X, -2, 2, 7, LABELS, 2)
    add("histogram", X, -2, 2, 7, LABELS)
    add("labeled_comprehension", X, LABELS, [1, 2, 99], lambda v: v.sum(), float, -1)
    add("labeled_comprehension", X, LABELS, 2, lambda v, p: p.max(), int, -1, True)


filters()
transforms()
morphology()
objects()
