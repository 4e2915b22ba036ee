"""Windows, under scipy.signal.windows' names."""

from .._table import Table

COMPOSED = {
    "signal._windows": "barthann bartlett blackman blackmanharris bohman boxcar chebwin cosine exponential flattop "
    "gaussian general_cosine general_gaussian general_hamming get_window hamming hann kaiser kaiser_bessel_derived "
    "lanczos nuttall parzen taylor triang tukey",
}
__getattr__, __dir__, __all__ = Table("signal.windows", composed=COMPOSED).attach()
