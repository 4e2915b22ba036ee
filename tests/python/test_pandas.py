"""Programs that import treadle in NumPy's place and hand arrays, numbers and functions to pandas: the same results, of
the same classes and dtypes, as with NumPy.
"""

import warnings

import numpy as np
import pytest

import treadle as td

pd = pytest.importorskip("pandas")

EXPRESSIONS = """
s.groupby(i).sum() | df.groupby(i)["a"].sum() | df.groupby("b").agg({"a": np.sum}) | df[m] | s[m] | df.loc[m] | df.loc[~m, "a"]
df.iloc[m] | df.iloc[i] | s.iloc[i] | s[i] | df.loc[i] | df.iloc[i[1]] | df.iloc[i[1], 0] | df.at[i[0], "a"] | s[i[1]]
df.iat[i[1], 0] | df.head(i[1]) | s.take(i) | s.shift(i[1]) | df.loc[np.where(m)[0]] | df.iloc[np.argsort(-x)]
pd.Series(x) | pd.Series(x, index=i) | pd.Series(x, dtype="f4") | pd.DataFrame(M) | pd.DataFrame({"x": x, "i": i}, index=i)
pd.DataFrame([x, i]) | pd.Series([x[0], x[1]]) | pd.Series(list(x)) | pd.Series(x[0], index=range(2)) | pd.Series(x > 2)
pd.DataFrame([{"a": x[0], "b": i[0]}]) | pd.DataFrame([[x[0], i[0]], [x[1], i[1]]]) | pd.Series({"a": x[0], "b": x.sum()})
pd.Series(x + 1j) | pd.Series(M[:, 0]) | pd.Index(i) | pd.Index(x) | pd.cut(x, 3) | pd.cut(s, np.array([0, 20, 50]))
pd.qcut(x, 2) | pd.unique(i) | pd.factorize(i) | pd.crosstab(i, i) | pd.get_dummies(i) | pd.Categorical(i) | pd.isna(x)
pd.to_timedelta(i, unit="D") | pd.date_range("2020", periods=i[1]) | pd.MultiIndex.from_arrays([i, x]) | pd.to_numeric(x)
s + x | x + s | s * x[0] | x[0] * s | s > x | x < s | s == x | x == s | m & (s > 5) | (s > 5) | m | df[["a"]] * M[:, :1]
M[:, :1] * df[["a"]] | df[["a"]] - x[:1] | df[["a"]].sub(x, axis=0) | s.where(m, x) | s.mask(m, 0) | df.assign(c=x)
df["a"].isin(i) | df.set_index(i) | df.reindex(i[:2]) | s.replace(10, x[0]) | s.clip(x[0], x[1] * 10) | s.quantile(x[0] / 4)
s.map(lambda v: v + x[0]) | s.agg([np.sum, np.mean]) | df[["a"]].apply(np.sum) | df["a"].apply(np.sqrt) | s.apply(np.exp)
s.rolling(2).apply(np.mean) | np.sqrt(s) | np.log(df[["a"]]) | np.exp(s / 10) | np.cumsum(s) | np.isnan(s) | np.clip(s, 15, 35)
np.round(s / 3, 1) | np.abs(-s) | np.maximum(s, x) | np.minimum(s, 25) | np.add(s, x) | np.power(s, 2) | np.argsort(s)
np.repeat(s, 2) | np.isfinite(s) | np.sum(s) | np.mean(s) | np.max(s) | np.where(s > 15, s, 0) | np.concatenate([s, x])
np.array(s) | np.asarray(df[["a"]]) | np.dot(s, x) | np.polyfit(s, x, 1) | np.select([s > 30, s > 15], [2, 1], 0) | np.diff(s)
s[np.abs(s - s.mean()) <= 2 * s.std()] | df[np.isin(df.a, [1, 2])] | np.vstack([s, x]) | np.unique(df["b"]) | np.median(s)
"""
STATEMENTS = """
df["c"] = x | df.loc[m, "a"] = 0 | df.loc[:, "c"] = m | s[m] = 0 | s[i] = x | s.loc[m] = x[m] | s.iloc[i] = 5 | s += x
df.loc[i[0], "a"] = x[3] | df.iloc[0, 0] = i[1] | s *= x[1] | df["a"] *= x | df["a"] = np.where(m, df["a"], 0) | s[:] = x
df[["a"]] = x[:, None] | df.index = i | df["d"] = np.log1p(df.a) | df["d"] = df.a.map(dict(zip(i, x))) | x[s > 15] = 0
x += s | x[:] = s | x[df.a - 1] = 9 | df["d"] = np.digitize(df.a, [2, 3]) | df["d"] = pd.cut(df.a, np.linspace(0, 4, 3))
"""


def names(lib):
    return {
        "np": lib,
        "pd": pd,
        "x": lib.array([1.0, 2.0, 3.0, 4.0]),
        "i": lib.array([0, 1, 0, 1]),
        "m": lib.array([False, False, True, True]),
        "M": lib.arange(8.0).reshape(4, 2),
        "s": pd.Series([10.0, 20.0, 30.0, 40.0]),
        "df": pd.DataFrame({"a": [1, 2, 3, 4], "b": list("xyzw")}),
    }


def described(v):
    """What is compared: class, dtypes and values."""
    if isinstance(v, tuple):
        return tuple(map(described, v))
    if isinstance(v, td._core.ndarray):
        v = v.get() if v.ndim or not v._is_number() else v.get()[()]
    if isinstance(v, np.ndarray | np.generic):
        v = np.round(v, 12) if v.dtype.kind == "f" else v
        return type(v).__name__, str(v.dtype), v.tolist()
    dtypes = str(getattr(v, "dtypes", getattr(v, "dtype", "")))
    return type(v).__name__, dtypes, repr(v)


def split(text):
    return [t for line in text.strip().splitlines() for t in line.split(" | ")]


@pytest.mark.parametrize("text", [*split(EXPRESSIONS), *split(STATEMENTS)])
def test_pandas_takes_what_programs_give(text):
    answers = []
    for lib in (np, td):
        scope = names(lib)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                r = eval(text, scope)
            except SyntaxError:
                exec(text, scope)
                r = scope["df"], scope["s"], scope["x"]
        answers.append(described(r))
    assert answers[0] == answers[1]
