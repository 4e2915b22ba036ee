"""Cases of scipy.stats."""

import numpy as np
from scipy_side import Case

MODULES = ("stats",)
RNG = np.random.default_rng(21)
A, B, C = RNG.random((9, 4)) + 0.1, RNG.random((9, 4)) + 0.2, RNG.random((7, 4))
SINGLE = A.astype("f4")
TIES = RNG.integers(0, 4, (9, 4))
HOLED = np.where(RNG.random((9, 4)) < 0.1, np.nan, A)


def of(*texts, **options):
    codes = [compile(text, text, "eval") for text in texts]

    def call(sp, xp):
        import warnings

        scope = {"A": A, "B": B, "C": C, "S": SINGLE, "T": TIES, "H": HOLED}
        scope = {"s": sp.stats, "xp": xp, "np": np, **{k: xp.asarray(v) for k, v in scope.items()}}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [eval(code, scope) for code in codes]

    case = Case(call, **{"rtol": 1e-10, "dtype": True, **options})
    case.texts, case.make = texts, lambda sp, xp: {"s": sp.stats, **{k: xp.asarray(v) for k, v in {"A": A, "B": B, "C": C, "S": SINGLE, "T": TIES, "H": HOLED}.items()}}
    return case


def dense(x):
    return x


def usual(f, *more, **options):
    """A function of a sample along an axis."""
    texts = [f"s.{f}(A)", f"s.{f}(A, axis=1)", f"s.{f}(A, axis=None)", f"s.{f}(S).dtype", f"s.{f}(T + 1)", f"s.{f}(H)", f"s.{f}(A[:, 0])", f"s.{f}(A, axis=0, keepdims=True)"]
    return of(*texts, *more, **options)


CASES = {
    "entropy": usual("entropy", "s.entropy(A, B)", "s.entropy(A, B[:, :1], base=2)", null=True),
    "trim_mean": of("s.trim_mean(A, 0.2)", "s.trim_mean(T, 0.3, axis=None)", "s.trim_mean(S, 0.1, 1)", null=True),
    "zmap": of("s.zmap(A, B)", "s.zmap(A, B, axis=None, ddof=1)", "s.zmap(S, S[:3]).dtype", null=True),
    "zscore": of("s.zscore(A)", "s.zscore(T, axis=1, ddof=1)", "s.zscore(A * 0 + 3)", "s.zscore(H)", "s.zscore(H, nan_policy='omit')", rtol=1e-9),
    "gzscore": of("s.gzscore(A)"),
    "gstd": of("s.gstd(A)", "s.gstd(A, axis=None)"),
    "boxcox_llf": of("s.boxcox_llf(0.5, A)", "s.boxcox_llf(0, A, axis=1)", "s.boxcox_llf(-2, A[:, 0])", "s.boxcox_llf(1, A, axis=None)", null=True),
    "yeojohnson_llf": of("s.yeojohnson_llf(0.5, A - 0.5)", "s.yeojohnson_llf(2, A[:, 0] - 0.5)", "s.yeojohnson_llf(0, A[:, 0])"),
    "boxcox": of("s.boxcox(A[:, 0], 0.4)", "s.boxcox(A[:, 0], 0)", "s.boxcox(A[:, 0])", rtol=1e-7),
    "yeojohnson": of("s.yeojohnson(A[:, 0] - 0.5, 0.4)", "s.yeojohnson(A[:, 0] - 0.5, 2)", "s.yeojohnson(A[:, 0])", rtol=1e-7),
    "describe": of("s.describe(A)", "s.describe(T, axis=None, ddof=0, bias=False)", dtype=False, null=True),
    "moment": usual("moment", "s.moment(A, 3)", "s.moment(A, [0, 1, 2, 5])", "s.moment(A, 2, center=1.5)", atol=1e-15),
    "skew": usual("skew", "s.skew(A, bias=False)", "s.skew(A * 0 + 0.1)", "s.skew(A, axis=(0, 1))", null=True),
    "kurtosis": usual("kurtosis", "s.kurtosis(A, fisher=False, bias=False)", "s.kurtosis(A, 1)"),
    "sem": usual("sem", "s.sem(A, ddof=0)"),
    "variation": usual("variation", "s.variation(A, ddof=1)", "s.variation(A[:1], ddof=1)"),
    "gmean": usual("gmean", "s.gmean(A, weights=B)", "s.gmean(A, 1)"),
    "hmean": usual("hmean", "s.hmean(A, weights=B)", "s.hmean(A - 0.5)"),
    "pmean": of("s.pmean(A, 3)", "s.pmean(A, -1.5, axis=1)", "s.pmean(A, 0)", "s.pmean(A, 2, weights=B, axis=None)"),
    "tmean": of("s.tmean(A)", "s.tmean(A, (0.2, 0.8))", "s.tmean(T, (1, 2), (False, True), axis=0)"),
    "tvar": of("s.tvar(A)", "s.tvar(A, (0.2, 0.8), axis=None)", "s.tvar(A, (None, 0.9), ddof=0)"),
    "tstd": of("s.tstd(A)", "s.tstd(A, (0.2, 0.8), axis=None)"),
    "tsem": of("s.tsem(A)", "s.tsem(A, (0.2, 0.8), axis=None)"),
    "tmin": of("s.tmin(A)", "s.tmin(A, 0.5)", "s.tmin(T, 1, inclusive=False)", "s.tmin(A, 0.9, axis=1)"),
    "tmax": of("s.tmax(A)", "s.tmax(A, 0.5)", "s.tmax(T, 2, inclusive=False)", "s.tmax(A, 0.3, axis=1)"),
    "iqr": of("s.iqr(A)", "s.iqr(A, axis=0, rng=(10, 80), scale='normal')", "s.iqr(S, axis=1)", "s.iqr(T, axis=0, keepdims=True)"),
    "median_abs_deviation": usual("median_abs_deviation", "s.median_abs_deviation(A, scale='normal')"),
    "sigmaclip": of("s.sigmaclip(xp.concatenate([A[:, 0], xp.asarray([9.0, -7.0])]), 2.0, 2.0)"),
    "circmean": usual("circmean", "s.circmean(A, high=1, low=0)", "s.circmean(A * 400, high=360)"),
    "circvar": usual("circvar", "s.circvar(A, high=1)", atol=1e-15),
    "circstd": usual("circstd", "s.circstd(A, high=1, normalize=True)"),
    "rankdata": of(*(f"s.rankdata(T, '{m}', axis=0), s.rankdata(A[:, 0], '{m}'), s.rankdata(T, '{m}')" for m in ("average", "min", "max", "dense", "ordinal")), "s.rankdata(H, axis=0)", null=True),
    "tiecorrect": of("s.tiecorrect(s.rankdata(T))", "s.tiecorrect(A[:, 0])", dtype=False),
    "mode": of("s.mode(A)", "s.mode(H)", "s.mode(T)", "s.mode(T, axis=1)", "s.mode(T, axis=None, keepdims=True)", dtype=False, null=True),
    "ttest_1samp": of("s.ttest_1samp(A, 0.5)", "s.ttest_1samp(A, 0.3, axis=1, alternative='less')", "s.ttest_1samp(A[:, 0], 0.5).confidence_interval(0.9)", "s.ttest_1samp(A, A[:1])", rtol=1e-9, null=True),
    "ttest_rel": of("s.ttest_rel(A, B)", "s.ttest_rel(A[:, 0], B[:, 0], alternative='greater')", rtol=1e-9),
    "ttest_ind": of("s.ttest_ind(A, C)", "s.ttest_ind(A, C, equal_var=False)", "s.ttest_ind(A[:, 0], C[:, 0], alternative='less')", "s.ttest_ind(A, C).df", "s.ttest_ind(A, C, trim=0.2)", rtol=1e-9),
    "ttest_ind_from_stats": of("s.ttest_ind_from_stats(1.0, 2.0, 9, 1.5, 2.5, 12)", "s.ttest_ind_from_stats(1.0, 2.0, 9, 1.5, 2.5, 12, equal_var=False)", rtol=1e-9, dtype=False),
    "f_oneway": of("s.f_oneway(A[:, 0], B[:, 0], C[:, 0])", "s.f_oneway(A, B, axis=0)", "s.f_oneway(A, B, equal_var=False)", rtol=1e-9, dtype=False),
    "chisquare": of("s.chisquare(xp.asarray([16, 18, 16, 14, 12, 12]))", "s.chisquare(T + 1)", "s.chisquare(xp.asarray([16.0, 18]), f_exp=xp.asarray([17.0, 17]), ddof=0)", rtol=1e-9),
    "power_divergence": of(*(f"s.power_divergence(T + 1, lambda_={p!r})" for p in ("pearson", "log-likelihood", "neyman", "cressie-read", "mod-log-likelihood", 0.7)), rtol=1e-9),
    "skewtest": of("s.skewtest(A)", "s.skewtest(A[:, 0], alternative='less')", rtol=1e-9),
    "kurtosistest": of("s.kurtosistest(A)", "s.kurtosistest(A[:, 0], alternative='greater')", rtol=1e-9),
    "normaltest": of("s.normaltest(A)", rtol=1e-9),
    "jarque_bera": of("s.jarque_bera(A)", "s.jarque_bera(A[:, 0])", "s.jarque_bera(A, axis=0)", rtol=1e-9),
    "pearsonr": of("s.pearsonr(A[:, 0], B[:, 0])", "s.pearsonr(A, B)", "s.pearsonr(A, B, axis=1, alternative='less')", "s.pearsonr(A[:, 0], B[:, 0]).confidence_interval()", "s.pearsonr(A[:2, 0], B[:2, 0])", "s.pearsonr(A[:, 0], B[:, 0] * 0)", rtol=1e-9, null=True),
    "pointbiserialr": of("s.pointbiserialr(T[:, 0] > 1, B[:, 0])", rtol=1e-9),
    "spearmanr": of("s.spearmanr(A[:, 0], B[:, 0])", "s.spearmanr(A)", "s.spearmanr(T, axis=1)", "s.spearmanr(A, B)", "s.spearmanr(H)", rtol=1e-9, atol=1e-12, dtype=False),
    "linregress": of("s.linregress(A[:, 0], B[:, 0])", "s.linregress(A[:, 0], B[:, 0]).intercept_stderr", "s.linregress(A[:2, 0], B[:2, 0])", rtol=1e-9, dtype=False),
    "gaussian_kde": [of("s.gaussian_kde(A.T)(C.T)", "s.gaussian_kde(A[:, 0])(C[:, 0])", "s.gaussian_kde(A[:, :2].T, 'silverman', weights=B[:, 0]).logpdf(C[:, :2].T)", "s.gaussian_kde(A[:, 0], 0.4).integrate_box_1d(0.2, 0.7)",
        "s.gaussian_kde(A[:, :2].T).integrate_gaussian(xp.asarray([0.5, 0.5]), xp.asarray([[0.1, 0], [0, 0.2]]))", "s.gaussian_kde(A[:, :2].T).integrate_kde(s.gaussian_kde(B[:, :2].T))", "s.gaussian_kde(A.T, lambda k: 0.3).covariance",
        "s.gaussian_kde(A.T).resample(5).shape", "s.gaussian_kde(A.T).marginal([0, 2])(C[:, :2].T)", "s.gaussian_kde(A.T).inv_cov", "s.gaussian_kde(A[:, 0]).integrate_box(0.1, 0.6)", rtol=1e-7, dtype=False), of("s.gaussian_kde(A[:, 0])(C[:, 0])")],
    "norm": of("s.norm.pdf(A)", "s.norm(loc=1.0).cdf(A[:, 0])"),
}  # fmt: skip
CASES = {f"stats.{name}": case for name, case in CASES.items()}
