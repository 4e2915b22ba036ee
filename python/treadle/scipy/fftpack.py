"""scipy.fftpack's names: Fourier, cosine and sine transforms."""

from ._table import Table

__getattr__, __dir__, __all__ = Table(
    "fftpack",
    native={"_fftpack": "fft fft2 fftn ifft ifft2 ifftn irfft rfft"},
    composed={
        "_fftpack": "dct dctn dst dstn get_fft_plan idct idctn idst idstn next_fast_len rfftfreq",
        "_transforms": "fftfreq fftshift ifftshift",
    },
).attach()
