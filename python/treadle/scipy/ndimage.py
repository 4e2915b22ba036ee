"""Images of any number of dims, under scipy.ndimage's names."""

from ._table import Table

NATIVE = {
    "_ndimage_filters": "convolve convolve1d correlate correlate1d gaussian_filter gaussian_filter1d maximum_filter "
    "maximum_filter1d median_filter minimum_filter minimum_filter1d percentile_filter prewitt rank_filter sobel "
    "uniform_filter uniform_filter1d",
    "_ndimage_interpolation": "affine_transform map_coordinates rotate shift spline_filter spline_filter1d zoom",
}
COMPOSED = {
    "_ndimage_filters": "gaussian_gradient_magnitude gaussian_laplace generic_gradient_magnitude generic_laplace laplace",
}
__getattr__, __dir__, __all__ = Table("ndimage", NATIVE, COMPOSED).attach()
