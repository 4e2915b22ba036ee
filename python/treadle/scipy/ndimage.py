"""scipy.ndimage's names: functions of images with any number of axes."""

from ._table import Table

NATIVE = {
    "_ndimage._filters": "convolve convolve1d correlate correlate1d gaussian_filter gaussian_filter1d maximum_filter "
    "maximum_filter1d median_filter minimum_filter minimum_filter1d percentile_filter prewitt rank_filter sobel "
    "uniform_filter uniform_filter1d",
    "_ndimage._measure": "label find_objects",
    "_ndimage._morphology": "binary_dilation binary_erosion binary_hit_or_miss distance_transform_edt grey_dilation "
    "grey_erosion",
    "_ndimage._interpolation": "affine_transform map_coordinates rotate shift spline_filter spline_filter1d zoom",
}
COMPOSED = {
    "_ndimage._filters": "gaussian_gradient_magnitude gaussian_laplace generic_gradient_magnitude generic_laplace "
    "laplace",
    "_ndimage._fourier": "fourier_ellipsoid fourier_gaussian fourier_shift fourier_uniform",
    "_ndimage._measure": "center_of_mass extrema histogram labeled_comprehension maximum maximum_position mean "
    "median minimum minimum_position standard_deviation sum sum_labels variance",
    "_ndimage._morphology": "binary_closing binary_fill_holes binary_opening binary_propagation black_tophat "
    "generate_binary_structure grey_closing grey_opening iterate_structure morphological_gradient "
    "morphological_laplace white_tophat",
}
__getattr__, __dir__, __all__ = Table("ndimage", NATIVE, COMPOSED).attach()
