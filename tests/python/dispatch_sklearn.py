"""A program of its own, since SCIPY_ARRAY_API is read when SciPy is imported: what scikit-learn lists as supporting the
array API standard, under its own checks (values, dtypes, devices and classes of results against NumPy's), with treadle
as the library. Its lists: the estimators that say so in their tags, and the metrics of its test suite. Prints one
line a failure."""

import os
import sys
import traceback
import warnings

os.environ["SCIPY_ARRAY_API"] = "1"
os.environ["SKLEARN_SKIP_NETWORK_TESTS"] = "1"

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.metrics.tests import test_common
from sklearn.utils import all_estimators
from sklearn.utils.estimator_checks import check_array_api_input

import treadle as td

# Parameters with which scikit-learn supports them, from its user guide.
PARAMETERS = {
    "LinearDiscriminantAnalysis": [{"solver": "svd"}],
    "LogisticRegression": [{"solver": "lbfgs", "max_iter": 200}],
    "Nystroem": [{"kernel": "rbf", "n_components": 5}],
    "PCA": [{"n_components": 2, "svd_solver": "full"}, {"n_components": 2, "svd_solver": "covariance_eigh"},
            {"n_components": 2, "svd_solver": "randomized", "power_iteration_normalizer": "QR", "random_state": 0}],
    "Ridge": [{"solver": "svd"}],
    "RidgeClassifier": [{"solver": "svd"}],
    "GaussianMixture": [{"n_components": 2, "init_params": "random", "random_state": 0, "covariance_type": c} for c in ("diag", "spherical")],
    "KernelCenterer": [{}],
}  # fmt: skip
ALSO = ["GaussianMixture", "RidgeClassifier", "MaxAbsScaler"]  # whose tags depend on their parameters


def estimators():
    for name, kind in all_estimators():
        try:
            tagged = kind().__sklearn_tags__().array_api_support
        except (TypeError, AttributeError):  # needs an estimator
            continue
        if tagged or name in ALSO:
            for parameters in PARAMETERS.get(name, [{}]):
                yield f"{name}({parameters})", kind(**parameters)


def check_estimator(estimator):
    if type(estimator).__name__ == "LabelEncoder":  # of one axis
        y = np.array([3, 1, 3, 2])
        with sklearn.config_context(array_api_dispatch=True):
            ours = clone(estimator).fit_transform(td.asarray(y))
        assert isinstance(ours, td._core.ndarray) and ours.tolist() == clone(estimator).fit_transform(y).tolist()
        return
    name = type(estimator).__name__
    exact = name != "LinearDiscriminantAnalysis" or td.device().kind == "cpu"  # other libraries' singular vectors have other signs
    check_array_api_input(name, estimator, "treadle", dtype_name="float64", check_values=exact)


def tools():
    from sklearn.linear_model import Ridge
    from sklearn.mixture import GaussianMixture
    from sklearn.model_selection import GridSearchCV, cross_val_predict, train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler, label_binarize

    rng = np.random.default_rng(0)
    x, y = rng.random((30, 4)), rng.random(30)

    def pair(f):
        with sklearn.config_context(array_api_dispatch=True):
            ours = f(td.asarray(x), td.asarray(y))
        theirs = f(x, y)
        assert isinstance(ours, td._core.ndarray), type(ours)
        np.testing.assert_allclose(ours.get(), theirs, rtol=1e-7)

    for c in ("full", "tied"):  # as scikit-learn's own test of it: by itself, since rounding grows with the iterations
        yield f"GaussianMixture {c}", lambda c=c: pair(lambda a, b: GaussianMixture(2, covariance_type=c, init_params="random", random_state=0).fit(a).means_)
    yield "train_test_split", lambda: pair(lambda a, b: train_test_split(a, b, random_state=1)[1])
    yield "cross_val_predict", lambda: pair(lambda a, b: cross_val_predict(Ridge(solver="svd"), a, b, cv=3))
    yield "Pipeline", lambda: pair(lambda a, b: make_pipeline(StandardScaler(), Ridge(solver="svd")).fit(a, b).predict(a))
    yield "GridSearchCV", lambda: pair(lambda a, b: GridSearchCV(Ridge(solver="svd"), {"alpha": [0.1, 1.0]}, cv=3).fit(a, b).predict(a))
    yield "label_binarize", lambda: pair(lambda a, b: label_binarize((a[:, 0] * 3).astype("int64"), classes=(b[:3] * 0).astype("int64") + (b[:3] > -1).cumsum() - 1))


def metrics():
    for metric, checks in test_common.array_api_metric_checkers.items():
        for check in checks:
            name = getattr(metric, "__name__", None) or f"{metric.func.__name__}({metric.keywords})"
            yield f"{name} {check.__name__.removeprefix('check_array_api_')}", lambda m=metric, c=check: c(m, "treadle", None, "float64")


def main():
    warnings.simplefilter("ignore")
    assert sklearn.__version__
    cases = [(name, lambda e=e: check_estimator(e)) for name, e in estimators()]
    cases += [*metrics(), *tools()]
    failures = 0
    for name, run in cases:
        try:
            run()
        except BaseException as error:  # pytest's and unittest's skips too: none is expected
            failures += 1
            if len(sys.argv) > 1:
                traceback.print_exc()
            print(f"{name}: {type(error).__name__}: {error}"[:400].replace("\n", " "))
    print(f"{len(cases)} checks, {failures} failures")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
