"""scipy.fft's names: Fourier, cosine and sine transforms."""

from ._table import Table

__getattr__, __dir__, __all__ = Table(
    "fft",
    native={
        "_transforms": "fft fft2 fftn hfft hfft2 hfftn ifft ifft2 ifftn ihfft ihfft2 ihfftn irfft irfft2 irfftn "
        "rfft rfft2 rfftn"
    },
    composed={
        "_transforms": "fftfreq fftshift ifftshift next_fast_len prev_fast_len rfftfreq",
        "_cosine": "dct dctn dst dstn idct idctn idst idstn",
    },
).attach()
