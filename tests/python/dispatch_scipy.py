"""A program of its own, since SCIPY_ARRAY_API is read when SciPy is imported: every function that SciPy lists as one of the
array API standard's, called with treadle's arrays and with NumPy's. Prints one line a failure; the rows are checked
against SciPy's own list, so a function without a row fails.

A row's texts (None: SciPy 1.17 itself mixes NumPy's arrays with whatever it was given, and fails), separated by ` | `, are the arguments of a call, or (where they call the name `f`) an expression. They use

    x      (3, 4) in (0, 1);  y: like it;  v, w: (8,) in (0, 1), v sorted;  n: (8,) of whole numbers 1 to 5;  m: (4, 4), well conditioned
    t      (16,) a wave;  i: int64 (3, 4);  b: bool (5, 6);  r: (5, 6) in (0, 1);  o: (9, 3) points;  z: a linkage;  q: (3, 4) quaternions
"""

import importlib
import inspect
import os
import sys
import warnings

os.environ["SCIPY_ARRAY_API"] = "1"

import numpy as np

import treadle as td

FILTER = "v, 1 | x, 0.5"
WINDOWS = "8, xp=xp"
ROWS = {
    # ---- cluster ----
    "cluster.hierarchy": {
        "average centroid complete median single ward weighted linkage": "o",
        "cophenet": "z", "correspond": "z, w[:1]", "dendrogram": "f(z, no_plot=True)", "fcluster": "z, 0.5", "fclusterdata": "o, 0.5", "from_mlab_linkage": "f(l)", "to_mlab_linkage": "z",
        "inconsistent": "z", "is_isomorphic": "n, n", "is_monotonic is_valid_linkage maxdists num_obs_linkage to_tree": "z", "is_valid_im": "f(ic)", "leaders": "f(z, fc)", "leaves_list": "z",
        "maxRstat": "f(z, ic, 1)", "maxinconsts": "f(z, ic)", "optimal_leaf_ordering": "f(z, pd)",
    },
    "cluster.vq": {"kmeans": "f(o, o[:2])", "kmeans2": "f(o, o[:2], minit='matrix')", "vq": "o, o[:2]", "whiten": "o"},
    # ---- constants, differentiate, integrate, optimize ----
    "constants": {"convert_temperature": "v, 'Celsius', 'Kelvin'", "lambda2nu nu2lambda": "v"},
    "differentiate": {"derivative": "f(xp.exp, v)", "jacobian": "f(lambda a: a**2, v).df", "hessian": "f(lambda a: xp.sum(a**3, axis=0), v[:2]).ddf"},
    "integrate": {"cubature": "f(lambda a: xp.exp(-xp.sum(a * a, axis=-1)), w[:2] * 0, w[:2] + 1)", "cumulative_simpson cumulative_trapezoid trapezoid": "v, dx=0.5 | x, axis=0",
                  "simpson": "v, dx=0.5", "romb": "t[:9], 0.5", "qmc_quad": "f(lambda a: xp.sum(a**2, axis=0), w[:2] * 0, w[:2] * 0 + 1, n_estimates=2, n_points=8, qrng=qmc.Halton(2, rng=1))", "tanhsinh": "f(xp.exp, w, w + 1)", "nsum": "f(lambda k: 1 / k**2, xp.asarray(1.0), xp.asarray(np.inf))"},
    "optimize": {"rosen rosen_der rosen_hess": "v", "rosen_hess_prod": "v, w"},
    "optimize.elementwise": {"find_root": "f(lambda a: a**2 - 0.5, (w * 0, w * 0 + 1))", "find_minimum": "f(lambda a: (a - 0.5)**2, (w * 0, w * 0 + 0.4, w * 0 + 1))",
                             "bracket_root": "f(lambda a: a - 3, w)", "bracket_minimum": "f(lambda a: (a - 3)**2, w)"},
    # ---- fft ----
    "fft": {"fft ifft rfft hfft ihfft": "v | x, axis=0", "fft2 fftn ifft2 ifftn rfft2 rfftn hfft2 hfftn ihfft2 ihfftn": "x", "irfft irfft2 irfftn": "x + 0j",
            "dct dst idct idst": "v | x, 2, axis=0", "dctn dstn idctn idstn": "x", "fht ifht": "v, 0.1, 0.5", "fftfreq rfftfreq": "8, 0.5, xp=xp", "fftshift ifftshift": "x"},
    # ---- interpolate ----
    "interpolate": {"BSpline": "f(v, w[:4], 3)(t[:2] * 0 + v[3])", "make_interp_spline": "f(v, w)(v)", "make_lsq_spline": "f(v, w, xp.concat([v[:1]] * 4 + [v[-1:]] * 4), 3)(v)", "make_smoothing_spline Akima1DInterpolator CubicSpline PchipInterpolator": "f(v, w)(v)",
                    "CubicHermiteSpline": "f(v, w, w)(v)", "generate_knots": "list(f(v, w, s=0.1))[-1]", "make_splprep": "f([v, w], s=0.1)[1]", "make_splrep": "f(v, w, s=0.1)(v)",
                    "BPoly PPoly": "f(x, v[[0, 1, 3, 5, 7]])(w)", "NdBSpline": "f((v, v), m, 3)(o[:, :2] * 0 + v[3])", "RBFInterpolator": "f(o, o[:, 0])(o + 0.1)", "RegularGridInterpolator": "f((v, v), v[:, None] + w)(o[:, :2] * 0 + 0.5)"},
    # ---- linalg, spatial ----
    "linalg": {"orthogonal_procrustes": "o, o[::-1]", "block_diag": "x, y", "fiedler": "v"},
    # ---- ndimage ----
    "ndimage": {
        "convolve correlate": "r, r[:3, :3]", "convolve1d correlate1d": "r, v[:3]", "gaussian_filter gaussian_filter1d gaussian_gradient_magnitude gaussian_laplace": "r, 1.0",
        "generic_filter": "r, np.sum, 3", "generic_filter1d": "f(r, lambda a, b: b.__setitem__(slice(None), a[1:-1]), 3)", "generic_gradient_magnitude": "f(r, ndi.sobel)", "generic_laplace": "f(r, lambda a, axis, output, mode, cval: ndi.correlate1d(a, [1, -2, 1], axis, output, mode, cval))", "laplace prewitt sobel": "r",
        "maximum_filter minimum_filter median_filter uniform_filter": "r, 3", "maximum_filter1d minimum_filter1d uniform_filter1d": "r, 3", "percentile_filter": "r, 30, 3", "rank_filter": "r, 2, 3",
        "vectorized_filter": "f(r, xp.sum, size=3)", "fourier_ellipsoid fourier_gaussian fourier_shift fourier_uniform": "r, 2",
        "affine_transform": "r, m[:2, :2]", "geometric_transform": "f(r, lambda at: (at[0] - 0.5, at[1]))", "map_coordinates": "r, o.T[:2]", "rotate": "r, 20", "shift": "r, 1.5", "spline_filter spline_filter1d": "r", "zoom": "r, 2",
        "center_of_mass extrema maximum mean median minimum standard_deviation sum sum_labels variance maximum_position minimum_position": "r | f(r, ib, 1)",
        "find_objects": "f(ib)", "histogram": "r, 0, 1, 4", "label": "b", "labeled_comprehension": "f(r, ib, xp.asarray([1]), np.sum, np.float64, 0)", "value_indices": "f(ib)", "watershed_ift": "f(xp.astype(r * 9, xp.uint8), xp.astype(ib, xp.int16))",
        "binary_closing binary_dilation binary_erosion binary_fill_holes binary_hit_or_miss binary_opening binary_propagation": "b", "black_tophat grey_closing grey_dilation grey_erosion grey_opening "
        "morphological_gradient morphological_laplace white_tophat": "r, 3", "distance_transform_bf distance_transform_cdt distance_transform_edt": "b", "iterate_structure": "b[:3, :3], 2",
    },
    # ---- signal ----
    "signal": {
        "bessel butter": "f(3, xp.asarray(0.3), output='ba')", "besselap buttap": "3, xp=xp", "cheb1ap cheb2ap": "3, 1.0, xp=xp", "ellipap": "3, 1.0, 20.0, xp=xp",
        "bilinear": "f(v[:3], w[:3])", "bilinear_zpk": "f(v[:3] + 0j, w[:3] + 0j, 1.0, 1.0)", "buttord cheb1ord cheb2ord ellipord": "f(xp.asarray(0.2), xp.asarray(0.3), 3, 40)",
        "cheby1 cheby2": "f(3, 1.0, xp.asarray(0.3))", "ellip": "f(3, 1.0, 20.0, xp.asarray(0.3))", "freqs freqz": "f(v[:3], w[:3], worN=8)", "freqs_zpk freqz_zpk": "f(v[:3] + 0j, w[:3] + 0j, 1.0, worN=t[:4] + 2)",
        "freqz_sos sosfreqz": "f(sos, worN=8)", "gammatone": "f(0.3, 'iir', xp=xp)", "group_delay": "f((v[:3], w[:3]), w=8)", "iircomb": "0.25, 30, xp=xp", "iirdesign": "f(xp.asarray(0.2), xp.asarray(0.3), 1, 20)",
        "iirfilter": "f(3, xp.asarray(0.3), btype='low')", "iirnotch iirpeak": "0.25, 30, xp=xp", "lp2bp lp2bs": "f(v[:3], w[:3], 1.0, 2.0)", "lp2bp_zpk lp2bs_zpk": "f(v[:2] + 0j, w[:3] + 0j, 1.0, 1.0, 2.0)",
        "lp2hp lp2lp": "f(v[:3], w[:3], 2.0)", "lp2hp_zpk lp2lp_zpk": "f(v[:2] + 0j, w[:3] + 0j, 1.0, 2.0)", "normalize": "v[:3], w[:3]", "sos2tf sos2zpk": "f(sos)", "tf2sos tf2zpk": "v[:3], w[:3]", "zpk2sos zpk2tf": "f(v[:2] + 0j, w[:2] + 0j, 1.0)",
        "firls": "f(5, xp.asarray([0, 0.5, 0.6, 1.0]), xp.asarray([1.0, 1, 0, 0]))", "firwin": "f(5, xp.asarray([0.3]))", "firwin2": "f(5, xp.asarray([0, 0.5, 1.0]), xp.asarray([1.0, 0.5, 0]))",
        "minimum_phase": "t[:9] + 2", "remez": "f(9, xp.asarray([0, 0.1, 0.2, 0.5]), xp.asarray([1.0, 0]))", "abcd_normalize": "m, m, m, m", "bode": "f((v[:2], w[:3]))", "impulse": None, "place_poles": "f(m, m[:, :2], xp.asarray([-1.0, -2, -3, -4])).gain_matrix",
        "savgol_coeffs": "5, 2, xp=xp", "savgol_filter": "v, 5, 2", "choose_conv_method": "v, w", "convolve correlate fftconvolve oaconvolve": "v, w", "convolve2d correlate2d": "r, x", "deconvolve": "v, w[:3]", "detrend": "v | x",
        "envelope hilbert medfilt wiener": "t", "filtfilt": "f(v[:2] + 1, w[:2] + 2, t)", "hilbert2": "r", "lfilter": "f(v[:3], w[:3] + 1, t)", "lfilter_zi": "v[:3], w[:3]", "lfiltic": "f(v[:3], w[:3], t[:2])", "medfilt2d": "r",
        "order_filter": "f(r, xp.ones((3, 3)), 2)", "resample": "t, 8", "resample_poly": "t, 2, 3", "sosfilt": "f(sos, t)", "sosfilt_zi": "f(sos)", "sosfiltfilt": "f(sos, t)", "vectorstrength": "v, 0.5",
        "get_window": "'hann', 8, xp=xp", "cspline1d qspline1d": "v", "cspline1d_eval qspline1d_eval": "f(v, w)", "cspline2d spline_filter": "f(xp.asarray(np.eye(20) + 0.1), 0.1)", "gauss_spline": "v, 2", "upfirdn": "v[:3], t, 2",
    },
    "signal.windows": {
        "barthann bartlett blackman blackmanharris bohman boxcar cosine exponential flattop hamming hann lanczos nuttall parzen taylor triang tukey": WINDOWS, "chebwin": "8, 50, xp=xp", "gaussian": "8, 2.0, xp=xp",
        "kaiser kaiser_bessel_derived": "8, 3.0, xp=xp", "general_cosine": "f(8, v[:3])", "general_gaussian": "8, 1.5, 2.0, xp=xp", "general_hamming": "8, 0.6, xp=xp", "get_window": "'hann', 8, xp=xp",
    },
    # ---- special ----
    "special": {
        "log_softmax logsumexp softmax": "x | x, axis=0", "multigammaln": "v + 3, 2", "polygamma": "f(xp.asarray(2.0), v)",
        "bdtr bdtrc bdtri": "f(xp.asarray(2.0), xp.asarray(5.0), v)", "yn expn": "f(xp.asarray(2), v)", "nbdtr nbdtrc nbdtri": "n, n + 1, v", "pdtri": "n, v",
    },
    # ---- stats ----
    "stats": {
        "chatterjeexi spearmanrho pearsonr": "v, w", "differential_entropy": "t", "entropy": "v | v, w", "cramervonmises ks_1samp": "f(v, lambda a: a)", "cramervonmises_2samp epps_singleton_2samp mannwhitneyu brunnermunzel ansari mood ttest_ind": "v, w[:7]",
        "bartlett fligner levene alexandergovern f_oneway kruskal": "v, w[:7]", "friedmanchisquare": "v, w, t[:8]", "boxcox_llf yeojohnson_llf": "f(0.5, v)", "circmean circstd circvar describe gmean gstd gzscore hmean iqr jarque_bera kurtosis median_abs_deviation moment rankdata sem skew "
        "tmax tmean tmin tsem tstd tvar zscore variation": "v | x", "kurtosistest normaltest skewtest": "xp.concat([t, t, t[:5]])", "directional_stats": "o", "false_discovery_control": "v", "kstat kstatvar": "v", "wilcoxon": "v, w", "quantile": "v, 0.3 | x, 0.3, axis=0",
        "_xp_searchsorted": "v, w", "bootstrap": "f((v,), xp.mean, rng=1, n_resamples=20).standard_error", "permutation_test": "f((v, w), lambda a, b, axis: xp.mean(a, axis=axis) - xp.mean(b, axis=axis), rng=1, n_resamples=20).pvalue", "monte_carlo_test": "f(v, rvs, lambda a, axis: xp.mean(a, axis=axis), n_resamples=20).pvalue", "power": "f(lambda a, axis: stats.ttest_1samp(a, 0.5, axis=axis).pvalue, rvs, 8, n_resamples=20).power", "chisquare power_divergence": "n, n.mean() + 0 * n", "combine_pvalues": "v", "lmoment": "v", "mode": "n", "pmean": "v, 2", "sigmaclip": "v",
        "trim_mean": "v, 0.2", "ttest_1samp": "v, 0.4", "ttest_ind_from_stats": "f(v[0], w[0], 8, v[1], w[1], 8)", "ttest_rel": "v, w", "zmap": "v, w",
    },
}  # fmt: skip
ARGUMENTS = {1: "v", 2: "v + 1, w + 1", 3: "v + 1, w + 1, w", 4: "v + 1, w + 1, v + 2, w"}  # of special functions
ROTATIONS = """R.from_quat(q).as_matrix() | R.from_quat(q).apply(o[:3]) | (R.from_quat(q) * R.from_quat(q)).as_rotvec() | R.from_rotvec(o[:3]).as_quat() | R.from_euler('xyz', o[:3]).as_euler('zyx') |
R.from_matrix(R.from_quat(q).as_matrix()).as_mrp() | R.from_mrp(o[:3]).magnitude() | R.from_quat(q).inv().as_quat() | R.from_quat(q).mean().as_matrix() | R.from_quat(q)[1].as_quat() | (R.from_quat(q)**2).as_quat() |
R.concatenate([R.from_quat(q), R.from_quat(q)]).as_quat() | R.from_quat(q).approx_equal(R.from_quat(q)) | R.from_quat(q).as_davenport(xp.eye(3), 'extrinsic') | R.align_vectors(o[:3], o[3:6])[0].as_quat() |
R.from_davenport(xp.eye(3), 'extrinsic', o[0]).as_quat() | R.from_quat(q).reduce().as_quat() | R.from_rotvec(o[0]).as_matrix() |
T.from_translation(o[:3]).as_matrix() | T.from_rotation(R.from_quat(q)).inv().as_matrix() | T.from_components(o[:3], R.from_quat(q)).apply(o[:3]) | T.from_exp_coords(xp.concat([o[:3], o[3:6]], axis=1)).as_exp_coords() |
T.from_dual_quat(T.from_components(o[:3], R.from_quat(q)).as_dual_quat()).as_matrix() | (T.from_translation(o[:3]) * T.from_rotation(R.from_quat(q))).as_components()[0] | T.from_matrix(T.from_translation(o[:3]).as_matrix())[0].as_matrix() |
(T.from_translation(o[:3]) ** 2).as_matrix() | T.concatenate([T.from_translation(o[:3]), T.from_translation(o[:3])]).as_matrix() | T.from_translation(o[:3]).mean().as_matrix()"""


def space(xp, asarray):
    from scipy import ndimage, stats
    from scipy.cluster import hierarchy
    from scipy.signal import butter
    from scipy.spatial.distance import pdist
    from scipy.spatial.transform import RigidTransform, Rotation

    rng = np.random.default_rng(5)
    o = rng.random((9, 3))
    z = hierarchy.linkage(o)
    q = rng.random((3, 4)) + 0.1
    values = {
        "x": rng.random((3, 4)), "y": rng.random((3, 4)), "v": np.sort(rng.random(8)), "w": rng.random(8), "n": rng.integers(1, 6, 8) * 1.0, "m": rng.random((4, 4)) + 4 * np.eye(4),
        "t": np.sin(np.arange(16.0)), "b": rng.random((5, 6)) > 0.4, "r": rng.random((5, 6)), "ib": (rng.random((5, 6)) > 0.4).astype("int64"), "o": o, "z": z, "q": q,
        "pd": pdist(o), "ic": hierarchy.inconsistent(z), "fc": hierarchy.fcluster(z, 0.3), "l": hierarchy.to_mlab_linkage(z), "sos": butter(4, 0.3, output="sos"),
    }  # fmt: skip
    rest = {"rvs": lambda size: asarray(np.random.default_rng(3).random(size)), "stats": stats, "qmc": stats.qmc}
    return {"xp": xp, "np": np, "ndi": ndimage, **rest, "R": Rotation, "T": RigidTransform, **{k: asarray(v) for k, v in values.items()}}


def flat(r):
    """Arrays and numbers of a result, in tuples, lists and objects too."""
    if isinstance(r, (td.ndarray, np.ndarray, np.generic, bool, int, float, complex)):
        return [r]
    if isinstance(r, dict):
        r = [r[k] for k in sorted(r, key=str)]
    if isinstance(r, (tuple, list)):
        return [v for part in r for v in flat(part)]
    return []


def compare(text, f):
    """What is wrong, or None."""
    theirs = eval(text, {"f": f, **space(np, lambda a: a.copy())})
    ours = eval(text, {"f": f, **space(td, lambda a: td.asarray(a))})
    ours, theirs = flat(ours), flat(theirs)
    if len(ours) != len(theirs):
        return f"{len(ours)} results, not {len(theirs)}"
    foreign = [type(a).__name__ for a, b in zip(ours, theirs, strict=True) if isinstance(b, np.ndarray) and not isinstance(a, td._core.ndarray)]
    if foreign:
        return f"results are {foreign}"
    for a, b in zip(ours, theirs, strict=True):
        a = a.get() if isinstance(a, td._core.ndarray) else np.asarray(a)
        if a.shape != np.shape(b) or not np.allclose(a, b, rtol=1e-6, atol=1e-9, equal_nan=True):
            return f"{a} is not {b}"
    return None


def listed():
    """{(module, name): function} of what SciPy says it supports."""
    import scipy
    from scipy._lib._array_api import xp_capabilities_table

    found = {}
    modules = {m: importlib.import_module(f"scipy.{m}") for m in ROWS}
    for f, c in xp_capabilities_table.items():
        if c["np_only"] or c["out_of_scope"] or not hasattr(f, "__name__"):
            continue
        for name, module in modules.items():
            if getattr(module, f.__name__, None) is f:
                found[name, f.__name__] = f
    assert scipy.__version__ and len(found) > 300
    return found


def row(module, name, f):
    rows = {n: r for names, r in ROWS[module].items() for n in names.split()}
    if name in rows:
        return rows[name]
    if module == "special":
        nin = getattr(f, "nin", None) or sum(p.default is p.empty and p.kind < p.VAR_POSITIONAL for p in inspect.signature(f).parameters.values())
        return ARGUMENTS.get(nin, "v")
    raise LookupError(f"scipy.{module}.{name} has no row")


def main():
    warnings.simplefilter("ignore")
    failures = done = 0
    cases = [(f"scipy.{m}.{n}", row(m, n, f), f) for (m, n), f in sorted(listed().items(), key=lambda kv: kv[0])]
    cases += [(text.strip(), text.strip(), None) for text in ROTATIONS.split("|")]
    for label, texts, f in cases:
        for text in texts.split(" | ") if texts else ():
            done += 1
            try:
                wrong = compare(text if f is None or "f(" in text else f"f({text})", f)
            except Exception as error:
                wrong = f"{type(error).__name__}: {error}"
            if wrong:
                failures += 1
                print(f"{label}({text}): {wrong}"[:400].replace("\n", " "))
    print(f"{done} calls, {failures} failures")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
