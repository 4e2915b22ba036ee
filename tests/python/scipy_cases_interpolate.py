"""Cases of scipy.interpolate."""

import numpy as np
from scipy_side import Case

MODULES = ("interpolate",)
RNG = np.random.default_rng(31)
X = np.sort(RNG.random(9)) * 4
DATA = {
    "x": X, "y": np.sin(X), "Y": RNG.random((9, 2, 3)), "Z": RNG.random((2, 9)), "p": np.linspace(X[0], X[-1], 14), "o": np.linspace(-1, 6, 15),
    "q": RNG.random((3, 4)) * (X[-1] - X[0]) + X[0], "c": RNG.random((4, 8)), "C": RNG.random((3, 8, 2)), "zc": RNG.random((4, 8)) * (1 + 2j),
    "t": np.array([0.0, 0, 0, 0, 0.5, 1.2, 2, 3, 3, 3, 3]), "b": RNG.random(7), "n": RNG.random((2, 3, 4, 3, 2)), "d": RNG.random((7, 7)), "e": np.append(RNG.random(7), [0.0] * 4), "B": RNG.random((7, 2)), "u": np.linspace(-0.5, 3.5, 17),
    "g0": np.linspace(0, 3, 5), "g1": np.array([0, 0.5, 2.0, 3]), "V": RNG.random((5, 4)), "W": RNG.random((5, 4, 2)), "xi": RNG.random((7, 2)) * 3,
    "far": RNG.random((7, 2)) * 5 - 1, "pts": RNG.random((12, 2)), "vals": RNG.random(12), "new": RNG.random((5, 2)), "V3": RNG.random((5, 4, 3)),
    "xi3": RNG.random((4, 3)) * 2, "g2": np.array([2.0, 1, 0]),
}  # fmt: skip


def of(*texts, **options):
    codes = [compile(text, text, "eval") for text in texts]

    def make(sp, xp):
        return {"s": sp.interpolate, "xp": xp, "np": np, **{k: xp.asarray(v) for k, v in DATA.items()}}

    def call(sp, xp):
        import warnings

        scope = make(sp, xp)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [dense(eval(code, scope)) for code in codes]

    case = Case(call, **{"rtol": 1e-9, "atol": 1e-12, **options})
    case.texts, case.make = texts, make
    return case


def dense(x):
    return [dense(v) for v in x] if type(x) in (list, tuple) else x.toarray() if hasattr(x, "toarray") else x


def piecewise(name, c="c", **options):
    f = f"s.{name}({c}, x)"
    return of(
        f"{f}(p)", f"{f}(q)", f"{f}(o)", f"{f}(o, extrapolate=False)", f"s.{name}({c}, x, extrapolate='periodic')(o)", f"{f}(p, 1)", f"{f}(p, 2)",
        f"{f}.derivative()(p)", f"{f}.derivative(2)(p)", f"{f}.antiderivative()(p)", f"{f}.antiderivative(2)(p)", f"{f}.integrate(1.0, 2.5)",
        f"{f}.integrate(3.0, 0.5)", f"s.{name}({c}, x, extrapolate='periodic').integrate(0.5, 9.5)", f"s.{name}({c}[:, ::-1], x[::-1])(p)",
        f"s.{name}(C, x)(q)", f"s.{name}(C, x).antiderivative()(q)", f"s.{name}({c}, x)(1.5)", f"{f}.derivative(5)(p)", **options,
    )  # fmt: skip


def interpolant(name, *more, **options):
    f = f"s.{name}"
    return of(
        f"{f}(x, y)(p)", f"{f}(x, y)(o)", f"{f}(x, Y)(q)", f"{f}(x, Z, axis=1)(p)", f"{f}(x, y).c", f"{f}(x, y).derivative()(p)", f"{f}(x, y)(p, 1)", f"{f}(x, y).x",
        f"{f}(x, y, extrapolate=False)(o)", f"{f}(x[:2], y[:2])(p)", *more, **options,
    )  # fmt: skip


CASES = {
    "PPoly": [piecewise("PPoly"), of(
        "s.PPoly(zc, x)(p)", "s.PPoly(c, x).solve(0.5)", "s.PPoly(c, x).roots()", "s.PPoly.from_spline((t, b, 3))(u)", "s.PPoly.from_bernstein_basis(s.BPoly(c, x))(p)",
        "(lambda f: (f.extend(c[:, :2], xp.asarray([5.0, 6])), f(o))[1])(s.PPoly(c, x))", "s.PPoly(xp.asarray(np.ones((2, 3, 4, 5))), xp.arange(5.0), axis=1)(q).shape"),
        of("s.PPoly(c, x)(p)", "s.PPoly(C, x).antiderivative()(p)", "s.PPoly(c, x)(o, 1, extrapolate=False)", null=True)],
    "BPoly": [piecewise("BPoly"), of("s.BPoly.from_power_basis(s.PPoly(c, x))(p)", "s.BPoly.from_derivatives(x[:3], Y[:3, 0, :2].tolist())(p)",
        "(lambda f: (f.extend(c[:3, :2], xp.asarray([5.0, 6])), f(o))[1])(s.BPoly(c, x))"), of("s.BPoly(c, x)(p)", "s.BPoly(c, x)(p, 1)", null=True)],
    "CubicSpline": interpolant("CubicSpline", "s.CubicSpline(x, y, bc_type='natural')(p)", "s.CubicSpline(x, y).integrate(1, 2)", "s.CubicSpline(x, y * 0 + xp.sin(x - x), bc_type='periodic')(o)"),
    "PchipInterpolator": [interpolant("PchipInterpolator", "s.PchipInterpolator(x, y)(p, 2)"), of("s.PchipInterpolator(x, y)(p)", null=True)],
    "Akima1DInterpolator": [interpolant("Akima1DInterpolator", "s.Akima1DInterpolator(x, y, method='makima')(p)", "s.Akima1DInterpolator(x[:3], y[:3])(p)"),
        of("s.Akima1DInterpolator(x, y)(o)", null=True)],
    "CubicHermiteSpline": of("s.CubicHermiteSpline(x, y, xp.cos(x))(o)", "s.CubicHermiteSpline(x, Y, Y[::-1])(q)", "s.CubicHermiteSpline(x, Z, Z, axis=1)(p)"),
    "pchip_interpolate": of("s.pchip_interpolate(x, y, p)", "s.pchip_interpolate(x, y, p, der=1)", "s.pchip_interpolate(x, y, p, der=[0, 2])"),
    "BSpline": [of(*(f"s.BSpline(t, {c}, 3){rest}" for c in ("b", "B") for rest in (
        "(u)", "(u, 1)", "(u, 2)", "(u, 3)", "(u, 4)", "(u, extrapolate=False)", "(u, extrapolate='periodic')", "(q)", ".derivative()(u)", ".derivative(2)(u)", ".antiderivative()(u)",
        ".antiderivative(2)(u)", ".integrate(0.2, 2.5)", ".integrate(2.5, -1.0)", ".integrate(2.5, -1.0, extrapolate=False)", ".derivative().c", ".antiderivative().t", "(1.25)")),
        "s.BSpline(t[3:8], b[:4], 0)(u)", "s.BSpline(t[2:9], b[:5], 1)(u, 1)", "s.BSpline(t, B.T, 3, axis=1)(u)", "s.BSpline(t, b * 1j, 3)(u)",
        "s.BSpline.basis_element(t[3:8])(u)", "s.BSpline.basis_element(t[3:8], extrapolate=False)(u)", "s.BSpline(t, b, 3).insert_knot(1.7).t",
        "s.BSpline.design_matrix(u[3:14], t, 3)", "s.BSpline(t, b, 3).tck[2]"),
        of("s.BSpline(t, b, 3)(u)", "s.BSpline(t, B, 3)(u, 1)", "s.BSpline(t, b, 3).antiderivative()(u)", null=True)],
    "splder": of("s.splder((t, e, 3))", "s.splder((t, e, 3), 2)", "s.splder(s.BSpline(t, b, 3)).c"),
    "splantider": of("s.splantider((t, e, 3))", "s.splantider((t, e, 3), 2)", "s.splantider(s.BSpline(t, b, 3)).c"),
    "splev": of("s.splev(u, (t, b, 3))", "s.splev(u, (t, b, 3), 1)", "s.splev(u, (t, b, 3), ext=1)", "s.splev(u, (t, b, 3), ext=3)", "s.splev(u, s.BSpline(t, b, 3))", "s.splev(p, s.splrep(x, y))"),
    "make_interp_spline": of("s.make_interp_spline(x, y)(o)", "s.make_interp_spline(x, Y, k=2)(q)", "s.make_interp_spline(x, y, k=1)(p)", "s.make_interp_spline(x, y, bc_type='natural').c"),
    "make_lsq_spline": of("s.make_lsq_spline(p, xp.sin(p), xp.concatenate([p[:1], p[:1], p[:1], p[:1], p[5:9:2], p[-1:], p[-1:], p[-1:], p[-1:]]))(p)"),
    "make_smoothing_spline": of("s.make_smoothing_spline(x, y, lam=0.1)(p)"),
    "interp1d": [of(*(f"s.interp1d(x, y, {kind!r}, bounds_error=False)(o)" for kind in ("linear", "nearest", "nearest-up", "previous", "next", "zero", "slinear", "quadratic", "cubic")),
        *(f"s.interp1d(x, Z, {kind!r}, fill_value='extrapolate')(o)" for kind in ("linear", "nearest", "previous", "next", "cubic")), "s.interp1d(x, Y, axis=0)(q)", "s.interp1d(x[::-1], y[::-1])(p)",
        "s.interp1d(x, y, fill_value=(-1.0, 9.0), bounds_error=False)(o)", "s.interp1d(x, Z, fill_value=Z[:, 0], bounds_error=False)(o)", "s.interp1d(x, y)(x)", "s.interp1d(x, y, 'nearest')(x)",
        "s.interp1d(x, y, 'previous')(x)", "s.interp1d(x, y, 'next')(x)", "s.interp1d(x, y.astype('f4'))(p).dtype"), of("s.interp1d(x, y)(p)", "s.interp1d(x, Y, 'nearest', axis=0)(q)", null=True)],
    "RegularGridInterpolator": [of(*(f"s.RegularGridInterpolator((g0, g1), {v}, {m!r}){rest}" for m in ("linear", "nearest") for v in ("V", "W") for rest in ("(xi)", "((xi[:, 0], xi[:, 1]))", "(xi[0])")),
        "s.RegularGridInterpolator((g0, g1), V, bounds_error=False)(far)", "s.RegularGridInterpolator((g0, g1), V, bounds_error=False, fill_value=None)(far)", "s.RegularGridInterpolator((g0, g1), V, bounds_error=False, fill_value=7.0)(far)",
        "s.RegularGridInterpolator((g0, g1, g2), V3)(xi3)", "s.RegularGridInterpolator((g0, g1), V, 'slinear')(xi)", "s.RegularGridInterpolator((g0, g1), V)(xi, method='nearest')"),
        of("s.RegularGridInterpolator((g0, g1), V)(xi)", "s.RegularGridInterpolator((g0, g1), W, 'nearest')(xi)", null=True)],
    "interpn": of("s.interpn((g0, g1), V, xi)", "s.interpn((g0, g1), V, xi, method='nearest')", "s.interpn((g0, g1), V, far, bounds_error=False, fill_value=0.5)", "s.interpn((g0, g1), V, xi, method='splinef2d')"),
    "BarycentricInterpolator": of("s.BarycentricInterpolator(x, y)(p)", "s.BarycentricInterpolator(x, Y)(q)", "s.BarycentricInterpolator(x, Z, axis=1)(x)", "s.BarycentricInterpolator(x, y).derivative(p)",
        "(lambda f: (f.add_xi(x[7:], y[7:]), f(p))[1])(s.BarycentricInterpolator(x[:7], y[:7]))", "(lambda f: (f.set_yi(y * 2), f(p))[1])(s.BarycentricInterpolator(x, y))", rtol=1e-7),
    "KroghInterpolator": of("s.KroghInterpolator(x, y)(p)", "s.KroghInterpolator(x, Y)(q)", "s.KroghInterpolator(x, Z, axis=1)(p)", "s.KroghInterpolator(x, y).derivative(p)", "s.KroghInterpolator(xp.asarray([0.0, 0, 1]), xp.asarray([1.0, 2, 3]))(p)", rtol=1e-7),
    "barycentric_interpolate": of("s.barycentric_interpolate(x, y, p)", "s.barycentric_interpolate(x, y, p, der=1)", rtol=1e-7),
    "krogh_interpolate": of("s.krogh_interpolate(x, y, p)", "s.krogh_interpolate(x, y, p, der=[0, 1])", rtol=1e-7),
    "RBFInterpolator": of("s.RBFInterpolator(pts, vals)(new)", *(f"s.RBFInterpolator(pts, vals, kernel={k!r}, epsilon=1.5)(new)" for k in ("linear", "cubic", "quintic", "multiquadric", "inverse_multiquadric", "inverse_quadratic", "gaussian")),
        "s.RBFInterpolator(pts, xp.stack([vals, vals**2], axis=1), smoothing=0.1, degree=2)(new)", "s.RBFInterpolator(pts, vals * 1j)(new)", "s.RBFInterpolator(pts, vals, neighbors=6)(new)", "s.RBFInterpolator(pts, vals, degree=-1, kernel='gaussian', epsilon=2)(new)", rtol=1e-6),
    "UnivariateSpline": of("s.UnivariateSpline(x, y)(p)", "s.UnivariateSpline(x, y, s=0.01)(o)", "s.UnivariateSpline(x, y, ext=3)(o)", "s.UnivariateSpline(x, y)(o, ext='zeros')", "s.UnivariateSpline(x, y)(p, 2)", "s.UnivariateSpline(x, y, k=4).derivative()(p)",
        "s.UnivariateSpline(x, y, s=0).get_knots()", "s.UnivariateSpline(x, y).antiderivative().integral(1, 2)", "(lambda f: (f.set_smoothing_factor(0.0), f(p))[1])(s.UnivariateSpline(x, y))"),
    "InterpolatedUnivariateSpline": of("s.InterpolatedUnivariateSpline(x, y)(p)", "s.InterpolatedUnivariateSpline(x, y).integral(1, 2)", "s.InterpolatedUnivariateSpline(x, y).roots()"),
    "LSQUnivariateSpline": of("s.LSQUnivariateSpline(x, y, [2.0])(p)"),
    "NdPPoly": [of("s.NdPPoly(n, (g0, g1))(xi)", "s.NdPPoly(n, (g0, g1))(xi, (1, 0))", "s.NdPPoly(n, (g0, g1))(far, extrapolate=False)", "s.NdPPoly(n, (g0, g1)).derivative((1, 1))(xi)", "s.NdPPoly(n, (g0, g1)).antiderivative((0, 1))(xi)",
        "s.NdPPoly(n, (g0, g1)).integrate([(0.5, 2), (0, 1)])", "s.NdPPoly(n, (g0, g1)).integrate_1d(0.5, 2, 1)(xi[:, 0])"), of("s.NdPPoly(n, (g0, g1))(xi)", null=True)],
    "NdBSpline": [of("s.NdBSpline((t, t), d, 3)(xi)", "s.NdBSpline((t, t), d, 3)(xi, nu=(1, 0))", "s.NdBSpline((t, t), d, 3)(xi, nu=[2, 3])", "s.NdBSpline((t, t), d, 3)(far, extrapolate=False)", "s.NdBSpline((t[1:-1], t), xp.stack([d[:6], d[:6] * 2], axis=2), (2, 3))(xi)"), of("s.NdBSpline((t, t), d, 3)(xi)", null=True)],
    "LinearNDInterpolator": of("s.LinearNDInterpolator(pts, vals)(new)"),
    "NearestNDInterpolator": of("s.NearestNDInterpolator(pts, vals)(new)"), "CloughTocher2DInterpolator": of("s.CloughTocher2DInterpolator(pts, vals)(new)"),
    "griddata": of("s.griddata(pts, vals, new, method='nearest')"),
}  # fmt: skip
CASES = {f"interpolate.{name}": case for name, case in CASES.items()}
