# Written by tools/stubs/write.py from the package itself.
from treadle import cbrt as cbrt
from treadle import erf as erf
from treadle import erfc as erfc
from treadle import exp2 as exp2
from treadle import expm1 as expm1
from treadle import lgamma as lgamma
from treadle import log1mexp as log1mexp
from treadle import log1p as log1p
from treadle import logit as logit
from treadle import softplus as softplus
from treadle import ufunc as _ufunc
from treadle import xlogy as xlogy
from treadle.scipy.special import agm as agm
from treadle.scipy.special import ai_zeros as ai_zeros
from treadle.scipy.special import airy as airy
from treadle.scipy.special import airye as airye
from treadle.scipy.special import assoc_laguerre as assoc_laguerre
from treadle.scipy.special import bdtrik as bdtrik
from treadle.scipy.special import bdtrin as bdtrin
from treadle.scipy.special import bei as bei
from treadle.scipy.special import bei_zeros as bei_zeros
from treadle.scipy.special import beip as beip
from treadle.scipy.special import beip_zeros as beip_zeros
from treadle.scipy.special import ber as ber
from treadle.scipy.special import ber_zeros as ber_zeros
from treadle.scipy.special import bernoulli as bernoulli
from treadle.scipy.special import berp as berp
from treadle.scipy.special import berp_zeros as berp_zeros
from treadle.scipy.special import besselpoly as besselpoly
from treadle.scipy.special import bi_zeros as bi_zeros
from treadle.scipy.special import boxcox as boxcox
from treadle.scipy.special import boxcox1p as boxcox1p
from treadle.scipy.special import btdtria as btdtria
from treadle.scipy.special import btdtrib as btdtrib
from treadle.scipy.special import c_roots as c_roots
from treadle.scipy.special import cg_roots as cg_roots
from treadle.scipy.special import chdtriv as chdtriv
from treadle.scipy.special import chebyc as chebyc
from treadle.scipy.special import chebys as chebys
from treadle.scipy.special import chebyt as chebyt
from treadle.scipy.special import chebyu as chebyu
from treadle.scipy.special import chndtr as chndtr
from treadle.scipy.special import chndtridf as chndtridf
from treadle.scipy.special import chndtrinc as chndtrinc
from treadle.scipy.special import chndtrix as chndtrix
from treadle.scipy.special import comb as comb
from treadle.scipy.special import cosdg as cosdg
from treadle.scipy.special import cosm1 as cosm1
from treadle.scipy.special import cotdg as cotdg
from treadle.scipy.special import dawsn as dawsn
from treadle.scipy.special import diric as diric
from treadle.scipy.special import ellip_harm as ellip_harm
from treadle.scipy.special import ellip_harm_2 as ellip_harm_2
from treadle.scipy.special import ellip_normal as ellip_normal
from treadle.scipy.special import elliprc as elliprc
from treadle.scipy.special import elliprg as elliprg
from treadle.scipy.special import elliprj as elliprj
from treadle.scipy.special import entr as entr
from treadle.scipy.special import erf_zeros as erf_zeros
from treadle.scipy.special import erfi as erfi
from treadle.scipy.special import errstate as errstate
from treadle.scipy.special import euler as euler
from treadle.scipy.special import eval_chebyc as eval_chebyc
from treadle.scipy.special import eval_chebys as eval_chebys
from treadle.scipy.special import eval_chebyt as eval_chebyt
from treadle.scipy.special import eval_chebyu as eval_chebyu
from treadle.scipy.special import eval_gegenbauer as eval_gegenbauer
from treadle.scipy.special import eval_genlaguerre as eval_genlaguerre
from treadle.scipy.special import eval_hermite as eval_hermite
from treadle.scipy.special import eval_hermitenorm as eval_hermitenorm
from treadle.scipy.special import eval_jacobi as eval_jacobi
from treadle.scipy.special import eval_laguerre as eval_laguerre
from treadle.scipy.special import eval_legendre as eval_legendre
from treadle.scipy.special import eval_sh_chebyt as eval_sh_chebyt
from treadle.scipy.special import eval_sh_chebyu as eval_sh_chebyu
from treadle.scipy.special import eval_sh_jacobi as eval_sh_jacobi
from treadle.scipy.special import eval_sh_legendre as eval_sh_legendre
from treadle.scipy.special import exp10 as exp10
from treadle.scipy.special import factorial as factorial
from treadle.scipy.special import factorial2 as factorial2
from treadle.scipy.special import factorialk as factorialk
from treadle.scipy.special import fdtridfd as fdtridfd
from treadle.scipy.special import fresnel as fresnel
from treadle.scipy.special import fresnel_zeros as fresnel_zeros
from treadle.scipy.special import fresnelc_zeros as fresnelc_zeros
from treadle.scipy.special import fresnels_zeros as fresnels_zeros
from treadle.scipy.special import gamma as gamma
from treadle.scipy.special import gdtria as gdtria
from treadle.scipy.special import gdtrib as gdtrib
from treadle.scipy.special import gdtrix as gdtrix
from treadle.scipy.special import gegenbauer as gegenbauer
from treadle.scipy.special import genlaguerre as genlaguerre
from treadle.scipy.special import geterr as geterr
from treadle.scipy.special import h1vp as h1vp
from treadle.scipy.special import h2vp as h2vp
from treadle.scipy.special import h_roots as h_roots
from treadle.scipy.special import hankel1 as hankel1
from treadle.scipy.special import hankel1e as hankel1e
from treadle.scipy.special import hankel2 as hankel2
from treadle.scipy.special import hankel2e as hankel2e
from treadle.scipy.special import he_roots as he_roots
from treadle.scipy.special import hermite as hermite
from treadle.scipy.special import hermitenorm as hermitenorm
from treadle.scipy.special import huber as huber
from treadle.scipy.special import hyp0f1 as hyp0f1
from treadle.scipy.special import hyp1f1 as hyp1f1
from treadle.scipy.special import hyp2f1 as hyp2f1
from treadle.scipy.special import hyperu as hyperu
from treadle.scipy.special import inv_boxcox as inv_boxcox
from treadle.scipy.special import inv_boxcox1p as inv_boxcox1p
from treadle.scipy.special import it2i0k0 as it2i0k0
from treadle.scipy.special import it2j0y0 as it2j0y0
from treadle.scipy.special import it2struve0 as it2struve0
from treadle.scipy.special import itairy as itairy
from treadle.scipy.special import iti0k0 as iti0k0
from treadle.scipy.special import itj0y0 as itj0y0
from treadle.scipy.special import itmodstruve0 as itmodstruve0
from treadle.scipy.special import itstruve0 as itstruve0
from treadle.scipy.special import iv as iv
from treadle.scipy.special import ive as ive
from treadle.scipy.special import ivp as ivp
from treadle.scipy.special import j_roots as j_roots
from treadle.scipy.special import jacobi as jacobi
from treadle.scipy.special import jn as jn
from treadle.scipy.special import jn_zeros as jn_zeros
from treadle.scipy.special import jnjnp_zeros as jnjnp_zeros
from treadle.scipy.special import jnp_zeros as jnp_zeros
from treadle.scipy.special import jnyn_zeros as jnyn_zeros
from treadle.scipy.special import js_roots as js_roots
from treadle.scipy.special import jv as jv
from treadle.scipy.special import jve as jve
from treadle.scipy.special import jvp as jvp
from treadle.scipy.special import kei as kei
from treadle.scipy.special import kei_zeros as kei_zeros
from treadle.scipy.special import keip as keip
from treadle.scipy.special import keip_zeros as keip_zeros
from treadle.scipy.special import kelvin as kelvin
from treadle.scipy.special import kelvin_zeros as kelvin_zeros
from treadle.scipy.special import ker as ker
from treadle.scipy.special import ker_zeros as ker_zeros
from treadle.scipy.special import kerp as kerp
from treadle.scipy.special import kerp_zeros as kerp_zeros
from treadle.scipy.special import kl_div as kl_div
from treadle.scipy.special import kn as kn
from treadle.scipy.special import kolmogi as kolmogi
from treadle.scipy.special import kolmogorov as kolmogorov
from treadle.scipy.special import kv as kv
from treadle.scipy.special import kve as kve
from treadle.scipy.special import kvp as kvp
from treadle.scipy.special import l_roots as l_roots
from treadle.scipy.special import la_roots as la_roots
from treadle.scipy.special import laguerre as laguerre
from treadle.scipy.special import lambertw as lambertw
from treadle.scipy.special import legendre as legendre
from treadle.scipy.special import lmbda as lmbda
from treadle.scipy.special import log_expit as log_expit
from treadle.scipy.special import log_softmax as log_softmax
from treadle.scipy.special import log_wright_bessel as log_wright_bessel
from treadle.scipy.special import logsumexp as logsumexp
from treadle.scipy.special import lpmv as lpmv
from treadle.scipy.special import lqmn as lqmn
from treadle.scipy.special import lqn as lqn
from treadle.scipy.special import mathieu_a as mathieu_a
from treadle.scipy.special import mathieu_b as mathieu_b
from treadle.scipy.special import mathieu_cem as mathieu_cem
from treadle.scipy.special import mathieu_even_coef as mathieu_even_coef
from treadle.scipy.special import mathieu_modcem1 as mathieu_modcem1
from treadle.scipy.special import mathieu_modcem2 as mathieu_modcem2
from treadle.scipy.special import mathieu_modsem1 as mathieu_modsem1
from treadle.scipy.special import mathieu_modsem2 as mathieu_modsem2
from treadle.scipy.special import mathieu_odd_coef as mathieu_odd_coef
from treadle.scipy.special import mathieu_sem as mathieu_sem
from treadle.scipy.special import modfresnelm as modfresnelm
from treadle.scipy.special import modfresnelp as modfresnelp
from treadle.scipy.special import modstruve as modstruve
from treadle.scipy.special import multigammaln as multigammaln
from treadle.scipy.special import nbdtrik as nbdtrik
from treadle.scipy.special import nbdtrin as nbdtrin
from treadle.scipy.special import ncfdtr as ncfdtr
from treadle.scipy.special import ncfdtri as ncfdtri
from treadle.scipy.special import ncfdtridfd as ncfdtridfd
from treadle.scipy.special import ncfdtridfn as ncfdtridfn
from treadle.scipy.special import ncfdtrinc as ncfdtrinc
from treadle.scipy.special import nctdtr as nctdtr
from treadle.scipy.special import nctdtridf as nctdtridf
from treadle.scipy.special import nctdtrinc as nctdtrinc
from treadle.scipy.special import nctdtrit as nctdtrit
from treadle.scipy.special import nrdtrimn as nrdtrimn
from treadle.scipy.special import nrdtrisd as nrdtrisd
from treadle.scipy.special import obl_ang1 as obl_ang1
from treadle.scipy.special import obl_ang1_cv as obl_ang1_cv
from treadle.scipy.special import obl_cv as obl_cv
from treadle.scipy.special import obl_cv_seq as obl_cv_seq
from treadle.scipy.special import obl_rad1 as obl_rad1
from treadle.scipy.special import obl_rad1_cv as obl_rad1_cv
from treadle.scipy.special import obl_rad2 as obl_rad2
from treadle.scipy.special import obl_rad2_cv as obl_rad2_cv
from treadle.scipy.special import owens_t as owens_t
from treadle.scipy.special import p_roots as p_roots
from treadle.scipy.special import pbdn_seq as pbdn_seq
from treadle.scipy.special import pbdv as pbdv
from treadle.scipy.special import pbdv_seq as pbdv_seq
from treadle.scipy.special import pbvv as pbvv
from treadle.scipy.special import pbvv_seq as pbvv_seq
from treadle.scipy.special import pbwa as pbwa
from treadle.scipy.special import pdtrik as pdtrik
from treadle.scipy.special import perm as perm
from treadle.scipy.special import polygamma as polygamma
from treadle.scipy.special import powm1 as powm1
from treadle.scipy.special import pro_ang1 as pro_ang1
from treadle.scipy.special import pro_ang1_cv as pro_ang1_cv
from treadle.scipy.special import pro_cv as pro_cv
from treadle.scipy.special import pro_cv_seq as pro_cv_seq
from treadle.scipy.special import pro_rad1 as pro_rad1
from treadle.scipy.special import pro_rad1_cv as pro_rad1_cv
from treadle.scipy.special import pro_rad2 as pro_rad2
from treadle.scipy.special import pro_rad2_cv as pro_rad2_cv
from treadle.scipy.special import ps_roots as ps_roots
from treadle.scipy.special import pseudo_huber as pseudo_huber
from treadle.scipy.special import radian as radian
from treadle.scipy.special import rel_entr as rel_entr
from treadle.scipy.special import riccati_jn as riccati_jn
from treadle.scipy.special import riccati_yn as riccati_yn
from treadle.scipy.special import roots_chebyc as roots_chebyc
from treadle.scipy.special import roots_chebys as roots_chebys
from treadle.scipy.special import roots_chebyt as roots_chebyt
from treadle.scipy.special import roots_chebyu as roots_chebyu
from treadle.scipy.special import roots_gegenbauer as roots_gegenbauer
from treadle.scipy.special import roots_genlaguerre as roots_genlaguerre
from treadle.scipy.special import roots_hermite as roots_hermite
from treadle.scipy.special import roots_hermitenorm as roots_hermitenorm
from treadle.scipy.special import roots_jacobi as roots_jacobi
from treadle.scipy.special import roots_laguerre as roots_laguerre
from treadle.scipy.special import roots_legendre as roots_legendre
from treadle.scipy.special import roots_sh_chebyt as roots_sh_chebyt
from treadle.scipy.special import roots_sh_chebyu as roots_sh_chebyu
from treadle.scipy.special import roots_sh_jacobi as roots_sh_jacobi
from treadle.scipy.special import roots_sh_legendre as roots_sh_legendre
from treadle.scipy.special import s_roots as s_roots
from treadle.scipy.special import seterr as seterr
from treadle.scipy.special import sh_chebyt as sh_chebyt
from treadle.scipy.special import sh_chebyu as sh_chebyu
from treadle.scipy.special import sh_jacobi as sh_jacobi
from treadle.scipy.special import sh_legendre as sh_legendre
from treadle.scipy.special import sinc as sinc
from treadle.scipy.special import sindg as sindg
from treadle.scipy.special import smirnov as smirnov
from treadle.scipy.special import smirnovi as smirnovi
from treadle.scipy.special import softmax as softmax
from treadle.scipy.special import spence as spence
from treadle.scipy.special import sph_harm_y as sph_harm_y
from treadle.scipy.special import spherical_in as spherical_in
from treadle.scipy.special import spherical_jn as spherical_jn
from treadle.scipy.special import spherical_kn as spherical_kn
from treadle.scipy.special import spherical_yn as spherical_yn
from treadle.scipy.special import stdtridf as stdtridf
from treadle.scipy.special import stirling2 as stirling2
from treadle.scipy.special import struve as struve
from treadle.scipy.special import t_roots as t_roots
from treadle.scipy.special import tandg as tandg
from treadle.scipy.special import tklmbda as tklmbda
from treadle.scipy.special import ts_roots as ts_roots
from treadle.scipy.special import u_roots as u_roots
from treadle.scipy.special import us_roots as us_roots
from treadle.scipy.special import voigt_profile as voigt_profile
from treadle.scipy.special import wofz as wofz
from treadle.scipy.special import wright_bessel as wright_bessel
from treadle.scipy.special import wrightomega as wrightomega
from treadle.scipy.special import xlog1py as xlog1py
from treadle.scipy.special import y0_zeros as y0_zeros
from treadle.scipy.special import y1_zeros as y1_zeros
from treadle.scipy.special import y1p_zeros as y1p_zeros
from treadle.scipy.special import yn_zeros as yn_zeros
from treadle.scipy.special import ynp_zeros as ynp_zeros
from treadle.scipy.special import yv as yv
from treadle.scipy.special import yve as yve
from treadle.scipy.special import yvp as yvp
from treadle.scipy.special import zeta as zeta
from typing import Any

SpecialFunctionError: Any
SpecialFunctionWarning: Any
assoc_legendre_p: Any
assoc_legendre_p_all: Any
bdtr: Any
bdtrc: Any
bdtri: Any
beta: Any
betainc: Any
betaincc: Any
betainccinv: Any
betaincinv: Any
betaln: Any
binom: Any
btdtr: Any
btdtri: Any
chdtr: Any
chdtrc: Any
chdtri: Any
digamma: Any
ellipe: Any
ellipeinc: Any
ellipj: Any
ellipk: Any
ellipkinc: Any
ellipkm1: Any
elliprd: Any
elliprf: Any
erfcinv: Any
erfcx: Any
erfinv: Any
exp1: Any
expi: Any
expit: _ufunc
expn: Any
exprel: Any
fdtr: Any
fdtrc: Any
fdtri: Any
gammainc: Any
gammaincc: Any
gammainccinv: Any
gammaincinv: Any
gammaln: _ufunc
gammasgn: Any
gdtr: Any
gdtrc: Any
i0: Any
i0e: Any
i1: Any
i1e: Any
j0: Any
j1: Any
k0: Any
k0e: Any
k1: Any
k1e: Any
legendre_p: Any
legendre_p_all: Any
log_ndtr: Any
loggamma: Any
nbdtr: Any
nbdtrc: Any
nbdtri: Any
ndtr: Any
ndtri: Any
ndtri_exp: Any
pdtr: Any
pdtrc: Any
pdtri: Any
poch: Any
psi: Any
rgamma: Any
round: _ufunc
shichi: Any
sici: Any
sph_harm_y_all: Any
sph_legendre_p: Any
sph_legendre_p_all: Any
stdtr: Any
stdtrit: Any
y0: Any
y1: Any
yn: Any
zetac: Any

__all__ = ['SpecialFunctionError', 'SpecialFunctionWarning', 'agm', 'ai_zeros', 'airy', 'airye', 'assoc_laguerre', 'assoc_legendre_p', 'assoc_legendre_p_all', 'bdtr', 'bdtrc', 'bdtri', 'bdtrik', 'bdtrin', 'bei', 'bei_zeros', 'beip', 'beip_zeros', 'ber', 'ber_zeros', 'bernoulli', 'berp', 'berp_zeros', 'besselpoly', 'beta', 'betainc', 'betaincc', 'betainccinv', 'betaincinv', 'betaln', 'bi_zeros', 'binom', 'boxcox', 'boxcox1p', 'btdtr', 'btdtri', 'btdtria', 'btdtrib', 'c_roots', 'cbrt', 'cg_roots', 'chdtr', 'chdtrc', 'chdtri', 'chdtriv', 'chebyc', 'chebys', 'chebyt', 'chebyu', 'chndtr', 'chndtridf', 'chndtrinc', 'chndtrix', 'comb', 'cosdg', 'cosm1', 'cotdg', 'dawsn', 'digamma', 'diric', 'ellip_harm', 'ellip_harm_2', 'ellip_normal', 'ellipe', 'ellipeinc', 'ellipj', 'ellipk', 'ellipkinc', 'ellipkm1', 'elliprc', 'elliprd', 'elliprf', 'elliprg', 'elliprj', 'entr', 'erf', 'erf_zeros', 'erfc', 'erfcinv', 'erfcx', 'erfi', 'erfinv', 'errstate', 'euler', 'eval_chebyc', 'eval_chebys', 'eval_chebyt', 'eval_chebyu', 'eval_gegenbauer', 'eval_genlaguerre', 'eval_hermite', 'eval_hermitenorm', 'eval_jacobi', 'eval_laguerre', 'eval_legendre', 'eval_sh_chebyt', 'eval_sh_chebyu', 'eval_sh_jacobi', 'eval_sh_legendre', 'exp1', 'exp10', 'exp2', 'expi', 'expit', 'expm1', 'expn', 'exprel', 'factorial', 'factorial2', 'factorialk', 'fdtr', 'fdtrc', 'fdtri', 'fdtridfd', 'fresnel', 'fresnel_zeros', 'fresnelc_zeros', 'fresnels_zeros', 'gamma', 'gammainc', 'gammaincc', 'gammainccinv', 'gammaincinv', 'gammaln', 'gammasgn', 'gdtr', 'gdtrc', 'gdtria', 'gdtrib', 'gdtrix', 'gegenbauer', 'genlaguerre', 'geterr', 'h1vp', 'h2vp', 'h_roots', 'hankel1', 'hankel1e', 'hankel2', 'hankel2e', 'he_roots', 'hermite', 'hermitenorm', 'huber', 'hyp0f1', 'hyp1f1', 'hyp2f1', 'hyperu', 'i0', 'i0e', 'i1', 'i1e', 'inv_boxcox', 'inv_boxcox1p', 'it2i0k0', 'it2j0y0', 'it2struve0', 'itairy', 'iti0k0', 'itj0y0', 'itmodstruve0', 'itstruve0', 'iv', 'ive', 'ivp', 'j0', 'j1', 'j_roots', 'jacobi', 'jn', 'jn_zeros', 'jnjnp_zeros', 'jnp_zeros', 'jnyn_zeros', 'js_roots', 'jv', 'jve', 'jvp', 'k0', 'k0e', 'k1', 'k1e', 'kei', 'kei_zeros', 'keip', 'keip_zeros', 'kelvin', 'kelvin_zeros', 'ker', 'ker_zeros', 'kerp', 'kerp_zeros', 'kl_div', 'kn', 'kolmogi', 'kolmogorov', 'kv', 'kve', 'kvp', 'l_roots', 'la_roots', 'laguerre', 'lambertw', 'legendre', 'legendre_p', 'legendre_p_all', 'lgamma', 'lmbda', 'log1mexp', 'log1p', 'log_expit', 'log_ndtr', 'log_softmax', 'log_wright_bessel', 'loggamma', 'logit', 'logsumexp', 'lpmv', 'lqmn', 'lqn', 'mathieu_a', 'mathieu_b', 'mathieu_cem', 'mathieu_even_coef', 'mathieu_modcem1', 'mathieu_modcem2', 'mathieu_modsem1', 'mathieu_modsem2', 'mathieu_odd_coef', 'mathieu_sem', 'modfresnelm', 'modfresnelp', 'modstruve', 'multigammaln', 'nbdtr', 'nbdtrc', 'nbdtri', 'nbdtrik', 'nbdtrin', 'ncfdtr', 'ncfdtri', 'ncfdtridfd', 'ncfdtridfn', 'ncfdtrinc', 'nctdtr', 'nctdtridf', 'nctdtrinc', 'nctdtrit', 'ndtr', 'ndtri', 'ndtri_exp', 'nrdtrimn', 'nrdtrisd', 'obl_ang1', 'obl_ang1_cv', 'obl_cv', 'obl_cv_seq', 'obl_rad1', 'obl_rad1_cv', 'obl_rad2', 'obl_rad2_cv', 'owens_t', 'p_roots', 'pbdn_seq', 'pbdv', 'pbdv_seq', 'pbvv', 'pbvv_seq', 'pbwa', 'pdtr', 'pdtrc', 'pdtri', 'pdtrik', 'perm', 'poch', 'polygamma', 'powm1', 'pro_ang1', 'pro_ang1_cv', 'pro_cv', 'pro_cv_seq', 'pro_rad1', 'pro_rad1_cv', 'pro_rad2', 'pro_rad2_cv', 'ps_roots', 'pseudo_huber', 'psi', 'radian', 'rel_entr', 'rgamma', 'riccati_jn', 'riccati_yn', 'roots_chebyc', 'roots_chebys', 'roots_chebyt', 'roots_chebyu', 'roots_gegenbauer', 'roots_genlaguerre', 'roots_hermite', 'roots_hermitenorm', 'roots_jacobi', 'roots_laguerre', 'roots_legendre', 'roots_sh_chebyt', 'roots_sh_chebyu', 'roots_sh_jacobi', 'roots_sh_legendre', 'round', 's_roots', 'seterr', 'sh_chebyt', 'sh_chebyu', 'sh_jacobi', 'sh_legendre', 'shichi', 'sici', 'sinc', 'sindg', 'smirnov', 'smirnovi', 'softmax', 'softplus', 'spence', 'sph_harm_y', 'sph_harm_y_all', 'sph_legendre_p', 'sph_legendre_p_all', 'spherical_in', 'spherical_jn', 'spherical_kn', 'spherical_yn', 'stdtr', 'stdtridf', 'stdtrit', 'stirling2', 'struve', 't_roots', 'tandg', 'tklmbda', 'ts_roots', 'u_roots', 'us_roots', 'voigt_profile', 'wofz', 'wright_bessel', 'wrightomega', 'xlog1py', 'xlogy', 'y0', 'y0_zeros', 'y1', 'y1_zeros', 'y1p_zeros', 'yn', 'yn_zeros', 'ynp_zeros', 'yv', 'yve', 'yvp', 'zeta', 'zetac']
