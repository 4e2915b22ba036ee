"""Statistics under scipy.stats's names. Summaries, ranks and common tests run on the device. Distributions and all
other names are SciPy's, on the host."""

from .._table import Table
from . import contingency, mstats, qmc, sampling

__getattr__, __dir__, __all__ = Table(
    "stats",
    native={
        "stats._summary": "boxcox_llf describe entropy gmean gstd gzscore hmean kurtosis moment pmean sem skew "
        "trim_mean "
        "variation yeojohnson_llf zmap zscore",
        "stats._trimmed": "circmean circstd circvar iqr median_abs_deviation sigmaclip tmax tmean tmin tsem tstd tvar",
        "stats._density": "gaussian_kde",
        "stats._ranks": "mode rankdata tiecorrect",
    },
    composed={
        "stats._compare": "chisquare f_oneway jarque_bera kurtosistest normaltest power_divergence skewtest "
        "ttest_1samp "
        "ttest_ind ttest_ind_from_stats ttest_rel",
        "stats._relate": "linregress pearsonr pointbiserialr spearmanr",
        "stats._summary": "boxcox yeojohnson",
    },
).attach()
