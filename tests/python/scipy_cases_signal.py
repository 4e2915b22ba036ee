"""Cases of scipy.signal and scipy.signal.windows."""

import math

import numpy as np
from scipy_side import Case

MODULES = ("signal", "signal.windows")
RNG = np.random.default_rng(5)
A = RNG.standard_normal((13, 17))
H = RNG.standard_normal((4, 3))
L = RNG.standard_normal(200)
F = L.astype("f4")
N = RNG.integers(-9, 9, 40)
Z = L + 1j * L[::-1]
K = RNG.standard_normal(7)
X3 = RNG.standard_normal((3, 200, 4))
# scipy.signal's butter(4, 0.2), its state, and butter(3, 0.3) in sections, as any filter would do.
B4 = np.array([0.00482434, 0.01929737, 0.02894606, 0.01929737, 0.00482434])
A4 = np.array([1.0, -2.36951301, 2.31398841, -1.05466541, 0.18737949])
SOS = np.array([[0.0495, 0.099, 0.0495, 1.0, -0.32, 0.0], [1.0, 1.0, 0.0, 1.0, -0.84, 0.49]])
T = np.linspace(-3, 9, 50)
S2 = RNG.standard_normal((2, 700))
CASES = {}


def add(name, *args, null=False, rtol=1e-9, atol=1e-10, dtype=True, module="signal", **kw):
    if any(getattr(a, "dtype", None) == np.float32 for a in args):
        rtol, atol = 1e-5, 2e-5

    def call(sp, xp):
        there = sp.signal.windows if module.endswith("windows") else sp.signal
        given = [xp.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
        keywords = {k: xp.asarray(v) if isinstance(v, np.ndarray) else v for k, v in kw.items()}
        return getattr(there, name)(*given, **keywords)

    CASES.setdefault(f"{module}.{name}", []).append(Case(call, rtol, atol, dtype, null))


def of(name, call, **kw):
    CASES.setdefault(f"signal.{name}", []).append(Case(call, rtol=1e-9, atol=1e-10, **kw))


def convolutions():
    long, short = RNG.standard_normal(9000), RNG.standard_normal(50)
    for name in ("convolve", "correlate", "fftconvolve", "oaconvolve"):
        for mode in ("full", "same", "valid"):
            for a, b in ((L, K), (A, H), (Z, K), (F, K.astype("f4")), (N, N[:5]), (L, Z), (long, short)):
                add(name, a, b, mode)
        add(name, L[:90], L[:80])
        add(name, A[:3, :3], H[:2], null=True)
    add("convolve", N, N[:9], method="fft")
    add("convolve", np.array([True, False, True]), np.array([True, True]))
    add("fftconvolve", A, RNG.standard_normal((13, 4)), axes=1)
    for name in ("convolve2d", "correlate2d"):
        for mode in ("full", "same", "valid"):
            for boundary in ("fill", "wrap", "symm"):
                add(name, A, H, mode, boundary)
                add(name, A * 1j, H[:, :2], mode, boundary)
    add("convolve2d", A, H, "same", "fill", 0.5)
    for mode in ("full", "same", "valid"):
        for n, k in ((9, 4), (4, 9), (5, 5)):
            add("correlation_lags", n, k, mode)
    add("choose_conv_method", L[:20], K)
    add("deconvolve", L[:20], K, null=True)
    add("medfilt", A, 3)
    add("medfilt", L, 5)
    add("medfilt2d", A, (3, 5))
    add("order_filter", A, np.ones((3, 3)), 2)
    add("wiener", A)
    add("wiener", A, (3, 5), 0.5)
    add("sepfir2d", A, K, K[:5])


def filters():
    zi = np.array([0.3, -0.2, 0.1, 0.5])
    for x in (L, F, Z, N):
        add("lfilter", B4, A4, x)
        add("sosfilt", SOS, x)
        add("filtfilt", B4, A4, x)
        add("sosfiltfilt", SOS, x)
    for b, a, x in ((B4, [1.0], L), ([1.0, 2], [3.0], L), ([1.0], [1.0, 0.5], X3), (B4, A4, L[:9])):
        add("lfilter", b, a, x, null=x.size < 10)
    add("lfilter", B4, A4, L, zi=zi)
    add("lfilter", B4, [2.0], L, zi=zi)
    add("lfilter", B4, A4, X3, axis=1, zi=zi[None, :, None])
    add("sosfilt", SOS, X3, axis=1)
    add("sosfilt", SOS, L, zi=np.ones((2, 2)))
    add("filtfilt", B4, A4, X3, axis=1, padtype="even")
    add("filtfilt", B4, A4, L, padtype=None)
    add("filtfilt", B4, A4, L, method="gust")
    add("sosfiltfilt", SOS, X3, axis=1, padtype="constant", padlen=20)
    add("lfilter_zi", B4, A4)
    add("sosfilt_zi", SOS)
    add("lfiltic", B4, A4, L[:4], L[4:8])
    add("lfiltic", B4, A4, L[:2])


def rates():
    for x in (L, X3[:, :, 0]):
        add("hilbert", x)
        add("detrend", x, bp=[50, 100])
    add("hilbert", L, 101, null=True)
    add("hilbert2", A, (12, 8))
    add("detrend", F, type="constant")
    add("detrend", Z)
    for n in (101, 250, 399, 200, 50):
        add("resample", L, n)
        add("resample", Z, n)
        add("resample", L[:-1], n, window="hann")
    add("resample", X3, 77, axis=1)
    add("resample", F, 50, t=np.arange(200.0))
    pads = "constant mean median minimum line smooth symmetric antisymmetric antireflect edge wrap reflect"
    for padtype in pads.split():
        add("resample_poly", L, 3, 2, padtype=padtype)
    add("resample_poly", X3, 2, 5, axis=1)
    add("resample_poly", F, 4, 1, window=K)
    add("upfirdn", K, L[:20], 3, 2, null=True)
    add("upfirdn", K, X3, 3, 2, axis=1)
    add("upfirdn", K, Z, mode="reflect")
    add("decimate", L, 4)
    add("decimate", L, 4, ftype="fir")
    add("decimate", X3, 3, axis=1, zero_phase=False)
    for mode in ("interp", "mirror", "nearest", "wrap", "constant"):
        add("savgol_filter", L, 7, 3, mode=mode)
        add("savgol_filter", A, 6, 2, deriv=1, axis=0, mode=mode)
    add("savgol_coeffs", 7, 3)
    add("savgol_coeffs", 8, 3, deriv=1, use="dot")


def spectra():
    for x in (S2, S2.astype("f4"), S2 + 1j * S2[::-1]):
        for name in ("welch", "periodogram", "spectrogram", "stft"):
            add(name, x, 100.0)
        add("welch", x, nperseg=100, noverlap=33, nfft=128, average="median", scaling="spectrum", detrend="linear")
        add("csd", x, S2[::-1], 10.0, nperseg=64)
        add("stft", x, boundary="odd", nperseg=65, padded=False)
    add("spectrogram", S2, mode="magnitude", nperseg=64)
    add("spectrogram", S2, mode="phase", nperseg=64)
    add("csd", S2, S2[:, :500], nperseg=64, average="median")
    add("coherence", S2, S2[::-1] + S2 / 2)
    add("welch", S2.T, axis=0, nperseg=65)
    add("welch", S2, window=np.hanning(100))
    add("periodogram", S2, nfft=500)
    add("periodogram", S2, nfft=1000, return_onesided=False)
    for n, overlap, one in ((100, 50, True), (100, 66, True), (64, 32, False)):

        def both(sp, xp, n=n, overlap=overlap, one=one):
            z = sp.signal.stft(xp.asarray(S2), nperseg=n, noverlap=overlap, return_onesided=one)[2]
            return sp.signal.istft(z, nperseg=n, noverlap=overlap, input_onesided=one)

        of("istft", both)
    x, freqs = np.sort(RNG.uniform(0, 50, 100)), np.linspace(0.1, 3, 40)
    for kw in ({}, {"normalize": True}, {"normalize": "amplitude", "floating_mean": True}, {"weights": RNG.random(100)}):
        add("lombscargle", x, np.sin(x), freqs, **kw)
    add("vectorstrength", x, 2.3)
    add("vectorstrength", x, np.array([1.0, 2, 3]), null=True)


def waves():
    for share in (0, 0.3, 1):
        add("sawtooth", T, share)
        add("square", T, share)
    add("sawtooth", T, np.linspace(-0.1, 1.1, 50))
    add("square", T, 0.2, null=True)
    add("gausspulse", T / 1000, retquad=True, retenv=True)
    add("gausspulse", "cutoff")
    for method in ("linear", "quadratic", "logarithmic", "hyperbolic"):
        add("chirp", T, 6, 10, 1, method, phi=30)
        add("chirp", T, 6, 10, 1, method, vertex_zero=False, complex=True)
    add("sweep_poly", T, [1.0, 2, 3])
    add("unit_impulse", (3, 4), "mid")
    add("unit_impulse", 8, dtype=np.float32)
    add("czt", L)
    add("czt", A, 10, axis=0)
    add("zoom_fft", A, [0.1, 0.4], 7, axis=0, endpoint=True, fs=1)
    add("czt_points", 9, 0.95 * np.exp(0.2j))
    of("CZT", lambda sp, xp: (sp.signal.CZT(200, 30, np.exp(-0.01j), 1.1)(xp.asarray(L)), sp.signal.CZT(5).points()))
    of("ZoomFFT", lambda sp, xp: sp.signal.ZoomFFT(200, 0.3, 50)(xp.asarray(L)))
    add("argrelmax", L)
    add("argrelmin", A, axis=1, order=2, mode="wrap")
    of("argrelextrema", lambda sp, xp: sp.signal.argrelextrema(xp.asarray(L), np.greater_equal, order=3))
    x = np.linspace(-math.pi, math.pi, 9) * 2
    t = (np.arange(9) - 4) / 2.0
    known = {
        "morlet": ((9,), (np.exp(5j * x) - np.exp(-12.5)) * np.exp(-0.5 * x**2) * np.pi**-0.25),
        "morlet2": ((9, 2.0), np.exp(5j * t) * np.exp(-0.5 * t**2) * np.pi**-0.25 * np.sqrt(0.5)),
        "ricker": ((9, 2.0), 2 / (np.sqrt(6) * np.pi**0.25) * (1 - t**2) * np.exp(-(t**2) / 2)),
        "qmf": ((np.array([1.0, 2, 3]),), np.array([3.0, -2, 1])),
    }
    for name, (args, want) in known.items():
        add(name, *args, dtype=False)
        CASES[f"signal.{name}"][-1].want = want
    rows = [np.convolve(L, np.array([1.0, w]), "same") for w in (1, 2)]
    of("cwt", lambda sp, xp: sp.signal.cwt(xp.asarray(L), lambda n, w: np.array([w, 1.0]), [1, 2]), want=np.stack(rows))


def windows():
    plain = "barthann bartlett blackman blackmanharris bohman boxcar cosine exponential flattop hamming hann lanczos"
    more = {"kaiser": (8.6,), "gaussian": (1.5,), "general_gaussian": (1.5, 2), "general_hamming": (0.6,), "chebwin": (60,),
            "general_cosine": (np.array([0.5, 0.3, 0.2]),), "tukey": (0.3,), "taylor": (5, 40, False)}  # fmt: skip
    for name in (*plain.split(), "nuttall", "parzen", "triang", *more):
        for m in (1, 2, 7, 12) if name not in more else (7, 12):
            for sym in (True, False):
                add(name, m, *more.get(name, ()), sym=sym, module="signal.windows", atol=1e-13)
    add("kaiser_bessel_derived", 8, 4.0, module="signal.windows")
    for w in ("hann", ("kaiser", 4.0), 4.0, "hann_symmetric", ("exponential", None, 1.0), ("dpss", 2)):
        add("get_window", w, 9)
        add("get_window", w, 9, False, module="signal.windows")


def design():
    """On the host: one call of each; poles and zeros are compared as SciPy orders them."""
    zpk = (np.array([-1.0, -1.0]), np.array([0.5 + 0.3j, 0.5 - 0.3j]), 0.2)
    tf = (np.array([1.0, 2.0]), np.array([1.0, 0.5, 0.25]))
    ss = (np.array([[0.1, 0.2], [-0.3, 0.4]]), np.array([[1.0], [0.5]]), np.array([[1.0, 0.0]]), np.array([[0.0]]))
    args = {
        "abcd_normalize": ss, "band_stop_obj": (0.25, 0, np.array([0.2, 0.6]), np.array([0.3, 0.5]), 1, 40, "butter"),
        "bilinear": (*tf, 2.0), "bilinear_zpk": (*zpk, 2.0), "bode": (tf,), "buttap": (3,), "butter": (4, 0.2),
        "buttord": (0.2, 0.3, 3, 40), "cheb1ap": (3, 1), "cheb1ord": (0.2, 0.3, 3, 40), "cheb2ap": (3, 40),
        "cheb2ord": (0.2, 0.3, 3, 40), "cheby1": (4, 1, 0.2), "cheby2": (4, 40, 0.2), "check_COLA": ("hann", 10, 5),
        "check_NOLA": ("hann", 10, 5), "cont2discrete": (tf, 0.1), "cspline1d": (L,), "cspline1d_eval": (L, np.array([1.5])),
        "cspline2d": (A,), "dbode": ((*tf, 0.1),), "dfreqresp": ((*tf, 0.1),), "dimpulse": ((*tf, 0.1),),
        "dlsim": ((*tf, 0.1), L[:9]), "dstep": ((*tf, 0.1),), "ellip": (4, 1, 40, 0.2), "ellipap": (3, 1, 40),
        "ellipord": (0.2, 0.3, 3, 40), "findfreqs": (*tf, 9), "firls": (9, [0, 0.3, 0.4, 1], [1, 1, 0, 0]),
        "firwin": (9, 0.3), "firwin2": (9, [0, 0.5, 1], [1, 0.5, 0]), "freqresp": (tf,), "freqs": tf, "freqs_zpk": zpk,
        "freqz": tf, "freqz_sos": (SOS,), "freqz_zpk": zpk, "gammatone": (0.3, "fir"), "gauss_spline": (T, 3),
        "group_delay": (tf,), "iircomb": (50, 30, "notch", 1000), "iirdesign": (0.2, 0.3, 1, 40),
        "iirfilter": (3, [0.2, 0.4]), "iirnotch": (0.3, 30), "iirpeak": (0.3, 30), "impulse": (tf,),
        "invres": (np.array([1.0, 2.0]), np.array([-1.0, -2.0]), []), "invresz": (np.array([1.0, 2.0]), np.array([0.5, 0.2]), []),
        "kaiser_atten": (11, 0.2), "kaiser_beta": (60.0,), "kaiserord": (60.0, 0.2), "lp2bp": tf, "lp2bp_zpk": zpk,
        "lp2bs": tf, "lp2bs_zpk": zpk, "lp2hp": tf, "lp2hp_zpk": zpk, "lp2lp": tf, "lp2lp_zpk": zpk,
        "lsim": (tf, np.ones(9), np.arange(9.0)), "max_len_seq": (4,), "minimum_phase": (np.array([1.0, 2.0, 3.0, 2.0, 1.0]),),
        "normalize": tf, "place_poles": None, "qspline1d": (L,), "qspline1d_eval": (L, np.array([1.5])), "qspline2d": (A,),
        "residue": tf, "residuez": tf, "sos2tf": (SOS,), "sos2zpk": (SOS,), "sosfreqz": (SOS,), "spline_filter": (RNG.standard_normal((64, 64)),),
        "ss2tf": ss, "ss2zpk": ss, "step": (tf,), "symiirorder1": (L, 0.5, 0.3), "symiirorder2": (L, 0.5, 0.3),
        "tf2sos": tf, "tf2ss": tf, "tf2zpk": tf, "unique_roots": (np.array([1.0, 1.0004, 3.0]),), "zpk2sos": zpk,
        "zpk2ss": zpk, "zpk2tf": zpk,
    }  # fmt: skip
    for name, given in args.items():
        if given is not None:
            add(name, *given, dtype=False)
    wave = np.sin(np.arange(12.0))
    of("find_peaks", lambda sp, xp: sp.signal.find_peaks(xp.asarray(wave), height=0.1))
    for name in ("peak_prominences", "peak_widths"):
        of(name, lambda sp, xp, name=name: getattr(sp.signal, name)(xp.asarray(wave), sp.signal.argrelmax(xp.asarray(wave))[0]))
    of("place_poles", lambda sp, xp: sp.signal.place_poles(ss[0], ss[1], [0.1, 0.2]).gain_matrix)
    of("BadCoefficients", lambda sp, xp: sp.signal.BadCoefficients.__name__)
    of("lti", lambda sp, xp: sp.signal.lti(*tf).to_ss().A)
    of("dlti", lambda sp, xp: sp.signal.dlti(*tf, dt=0.1).step(n=5))
    of("TransferFunction", lambda sp, xp: sp.signal.TransferFunction(*tf).poles)
    of("ZerosPolesGain", lambda sp, xp: sp.signal.ZerosPolesGain(*zpk).to_tf().num)
    of("StateSpace", lambda sp, xp: (sp.signal.StateSpace(*ss) * 2).C)


convolutions()
filters()
rates()
spectra()
waves()
windows()
design()
