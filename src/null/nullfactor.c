/* nullfactor.c - the arithmetic of nullsolver.h. */
#include "null/nullsolver.h"

#include <math.h>
#include <string.h>

#define A(i, j) a[(i) + (j) * m]

static void
swap_rows(null_number *a, int64_t m, int64_t n, int64_t p, int64_t q)
{
    for (int64_t j = 0; j < n && p != q; j++) {
        null_number t = A(p, j);

        A(p, j) = A(q, j);
        A(q, j) = t;
    }
}

int
td_null_lu(null_number *a, int64_t m, int64_t n, int64_t *pivot)
{
    int info = 0;

    for (int64_t j = 0; j < m && j < n; j++) {
        int64_t best = j;

        for (int64_t i = j + 1; i < m; i++)
            if (cabs(A(i, j)) > cabs(A(best, j)))
                best = i;
        pivot[j] = best + 1;
        swap_rows(a, m, n, j, best);
        if (A(j, j) == 0) {
            info = info ? info : (int)j + 1;
            continue;
        }
        for (int64_t i = j + 1; i < m; i++) {
            A(i, j) /= A(j, j);
            for (int64_t k = j + 1; k < n; k++)
                A(i, k) -= A(i, j) * A(j, k);
        }
    }
    return info;
}

int
td_null_cholesky(null_number *a, int64_t n, bool upper)
{
    int64_t m = n;

    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++) {
            null_number *at = upper ? &A(j, i) : &A(i, j), x = *at;

            for (int64_t k = 0; k < j; k++)
                x -= upper ? conj(A(k, j)) * A(k, i) : A(i, k) * conj(A(j, k));
            if (i > j)
                *at = x / creal(A(j, j));
            else if (creal(x) > 0)
                *at = sqrt(creal(x));
            else
                return (int)j + 1;
        }
    return 0;
}

static double
length(const null_number *x, int64_t n)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += creal(x[i]) * creal(x[i]) + cimag(x[i]) * cimag(x[i]);
    return sqrt(sum);
}

/* x^H y */
static null_number
product(const null_number *x, const null_number *y, int64_t n)
{
    null_number sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += conj(x[i]) * y[i];
    return sum;
}

/* Columns from..n of a lose tau v (v^H a) in rows j..m; v[0] is 1 and not stored. */
static void
reflect(null_number *a, int64_t m, int64_t from, int64_t n, int64_t j, const null_number *v,
        null_number tau)
{
    for (int64_t k = from; k < n; k++) {
        null_number t = tau * (A(j, k) + product(v + 1, &A(j + 1, k), m - j - 1));

        A(j, k) -= t;
        for (int64_t i = 1; i < m - j; i++)
            A(j + i, k) -= t * v[i];
    }
}

void
td_null_qr(null_number *a, int64_t m, int64_t n, null_number *tau)
{
    for (int64_t j = 0; j < m && j < n; j++) {
        null_number alpha = A(j, j);
        double rest = length(&A(j, j) + 1, m - j - 1), beta;

        tau[j] = 0;
        if (rest == 0 && cimag(alpha) == 0)
            continue;
        beta = -copysign(hypot(cabs(alpha), rest), creal(alpha));
        tau[j] = (beta - alpha) / beta;
        for (int64_t i = j + 1; i < m; i++)
            A(i, j) /= alpha - beta;
        A(j, j) = beta;
        reflect(a, m, j + 1, n, j, &A(j, j), conj(tau[j]));
    }
}

void
td_null_q(null_number *a, int64_t m, int64_t n, int64_t k, const null_number *tau)
{
    for (int64_t j = n - 1; j >= 0; j--) {
        if (j >= k) {
            memset(&A(0, j), 0, (size_t)m * sizeof *a);
            A(j, j) = 1;
            continue;
        }
        A(j, j) = 1;
        reflect(a, m, j + 1, n, j, &A(j, j), tau[j]);
        for (int64_t i = j + 1; i < m; i++)
            A(i, j) *= -tau[j];
        A(j, j) = 1 - tau[j];
        memset(&A(0, j), 0, (size_t)j * sizeof *a);
    }
}

/* Columns x and y of p rows become c x - conj(s) y and s x + c y. */
static void
rotate(null_number *x, null_number *y, int64_t p, double c, null_number s)
{
    for (int64_t i = 0; i < p; i++) {
        null_number u = x[i], v = y[i];

        x[i] = c * u - conj(s) * v;
        y[i] = s * u + c * v;
    }
}

/* The rotation that makes columns of squared lengths p, q and product g = x^H y orthogonal. */
static void
angle(double p, double q, null_number g, double *c, null_number *s)
{
    double zeta = (q - p) / (2 * cabs(g));
    double t = copysign(1, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));

    *c = 1 / sqrt(1 + t * t);
    *s = t * *c * (g / cabs(g));
}

/* Columns of a and v in the order of key, the greatest first (down) or the least. */
static void
order(double *key, int64_t n, bool down, null_number *a, int64_t m, null_number *v)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t best = i;
        double t;

        for (int64_t j = i + 1; j < n; j++)
            if (down ? key[j] > key[best] : key[j] < key[best])
                best = j;
        t = key[i];
        key[i] = key[best];
        key[best] = t;
        if (best != i)
            rotate(&A(0, i), &A(0, best), m, 0, 1);
        if (best != i && v)
            rotate(v + i * n, v + best * n, n, 0, 1);
    }
}

void
td_null_svd(null_number *a, int64_t m, int64_t n, double *s, null_number *v)
{
    for (int64_t i = 0; i < n * n; i++)
        v[i] = i % (n + 1) == 0;
    for (int sweep = 0; sweep < 60; sweep++) {
        bool done = true;

        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i + 1; j < n; j++) {
                double p = length(&A(0, i), m), q = length(&A(0, j), m), c;
                null_number g = product(&A(0, i), &A(0, j), m), t;

                if (cabs(g) <= 1e-16 * p * q || cabs(g) < 1e-300)
                    continue;
                done = false;
                angle(p * p, q * q, g, &c, &t);
                rotate(&A(0, i), &A(0, j), m, c, t);
                rotate(v + i * n, v + j * n, n, c, t);
            }
        if (done)
            break;
    }
    for (int64_t i = 0; i < n; i++)
        s[i] = length(&A(0, i), m);
    order(s, n, true, a, m, v);
    td_null_complete(a, m, n, n);
}

/* x loses its parts along the k columns of u. */
static void
project(null_number *x, const null_number *u, int64_t m, int64_t k)
{
    for (int64_t j = 0; j < k; j++) {
        null_number g = product(u + j * m, x, m);

        for (int64_t i = 0; i < m; i++)
            x[i] -= g * u[i + j * m];
    }
}

void
td_null_complete(null_number *u, int64_t m, int64_t n, int64_t wanted)
{
    double first = n ? length(u, m) : 0;

    for (int64_t j = 0; j < wanted; j++) {
        null_number *x = u + j * m;
        double size = j < n ? length(x, m) : 0;
        bool is_good = size > 1e-14 * first;

        for (int64_t e = 0; !is_good && e < m;
             e++) { /* one of the unit vectors keeps 1 / sqrt(m) */
            for (int64_t i = 0; i < m; i++)
                x[i] = i == e;
            project(x, u, m, j);
            project(x, u, m, j);
            size = length(x, m);
            is_good = size > 0.5 / sqrt((double)m);
        }
        for (int64_t i = 0; i < m; i++)
            x[i] /= size;
    }
}

void
td_null_triangle(const null_number *a, int64_t n, bool upper, int trans, bool unit, null_number *b,
                 int64_t k)
{
    bool down = upper == (trans != 0); /* from the first row on */
    int64_t m = n;

    for (int64_t c = 0; c < k; c++, b += n)
        for (int64_t r = 0; r < n; r++) {
            int64_t i = down ? r : n - 1 - r;

            for (int64_t q = 0; q < r; q++) {
                int64_t j = down ? q : n - 1 - q;
                null_number x = trans ? A(j, i) : A(i, j);

                b[i] -= (trans == 2 ? conj(x) : x) * b[j];
            }
            if (!unit)
                b[i] /= trans == 2 ? conj(A(i, i)) : A(i, i);
        }
}

/* ---- eigenvalues ---- */

/* Rows i and j of n columns as rotate() does to columns of the adjoint. */
static void
rotate_rows(null_number *a, int64_t m, int64_t n, int64_t i, int64_t j, double c, null_number s)
{
    for (int64_t k = 0; k < n; k++) {
        null_number u = A(i, k), v = A(j, k);

        A(i, k) = c * u - s * v;
        A(j, k) = conj(s) * u + c * v;
    }
}

static void
fill_other(null_number *a, int64_t n, bool upper)
{
    int64_t m = n;

    for (int64_t j = 0; j < n; j++) {
        A(j, j) = creal(A(j, j));
        for (int64_t i = j + 1; i < n; i++)
            if (upper)
                A(i, j) = conj(A(j, i));
            else
                A(j, i) = conj(A(i, j));
    }
}

/* Jacobi's method; v becomes the vectors. */
void
td_null_eigh(null_number *a, int64_t n, bool upper, double *w, null_number *v)
{
    int64_t m = n;

    fill_other(a, n, upper);
    for (int64_t i = 0; i < n * n; i++)
        v[i] = i % (n + 1) == 0;
    for (int sweep = 0; sweep < 60; sweep++) {
        bool done = true;

        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i + 1; j < n; j++) {
                null_number g = A(i, j), s;
                double c;

                if (cabs(g) <= 1e-17 * length(a, n * n))
                    continue;
                done = false;
                angle(creal(A(i, i)), creal(A(j, j)), g, &c, &s);
                rotate(&A(0, i), &A(0, j), n, c, s);
                rotate_rows(a, n, n, i, j, c, s);
                rotate(v + i * n, v + j * n, n, c, s);
            }
        if (done)
            break;
    }
    for (int64_t i = 0; i < n; i++)
        w[i] = creal(A(i, i));
    order(w, n, false, v, n, NULL);
}

/* c and s that make the second of two numbers 0 in rotate_rows: conj(s) x + c y = 0. */
static void
givens(null_number x, null_number y, double *c, null_number *s)
{
    double size = hypot(cabs(x), cabs(y));

    *c = size == 0 ? 1 : cabs(x) / size;
    *s = size == 0 ? 0 : x == 0 ? -1 : -(x / cabs(x)) * conj(y) / size;
}

/* a = z h z^H with zeros below the first subdiagonal of h, which replaces a. */
static void
make_hessenberg(null_number *a, int64_t n, null_number *z)
{
    int64_t m = n;

    for (int64_t i = 0; i < n * n; i++)
        z[i] = i % (n + 1) == 0;
    for (int64_t k = 0; k + 2 < n; k++)
        for (int64_t i = n - 1; i > k + 1; i--) {
            double c;
            null_number s;

            givens(A(i - 1, k), A(i, k), &c, &s);
            rotate_rows(a, n, n, i - 1, i, c, s);
            rotate(&A(0, i - 1), &A(0, i), n, c, s);
            rotate(z + (i - 1) * n, z + i * n, n, c, s);
        }
}

/* One step of the QR method on rows lo..hi, with a shift. */
static void
qr_step(null_number *a, int64_t n, null_number *z, int64_t lo, int64_t hi, null_number shift,
        double *c, null_number *s)
{
    int64_t m = n;

    for (int64_t i = 0; i < n; i++)
        A(i, i) -= shift;
    for (int64_t i = lo; i < hi; i++) {
        givens(A(i, i), A(i + 1, i), &c[i], &s[i]);
        rotate_rows(a, n, n, i, i + 1, c[i], s[i]);
    }
    for (int64_t i = lo; i < hi; i++) {
        rotate(&A(0, i), &A(0, i + 1), n, c[i], s[i]);
        rotate(z + i * n, z + (i + 1) * n, n, c[i], s[i]);
    }
    for (int64_t i = 0; i < n; i++)
        A(i, i) += shift;
}

/* The eigenvalue of the last two rows' square that is closer to its corner. */
static null_number
shift_of(const null_number *a, int64_t m, int64_t hi, int turn)
{
    null_number p = A(hi - 1, hi - 1), q = A(hi, hi), half = (p - q) / 2;
    null_number root = csqrt(half * half + A(hi - 1, hi) * A(hi, hi - 1));

    if (turn % 10 == 9)
        return q + cabs(A(hi, hi - 1)); /* out of a circle */
    return q + half + (cabs(half + root) < cabs(half - root) ? root : -root);
}

/* The triangle's eigenvectors, times z, of length 1. */
static void
vectors(const null_number *a, int64_t n, const null_number *z, null_number *room)
{
    int64_t m = n;
    double small = 1e-16 * (length(a, n * n) + 1e-300);

    for (int64_t k = 0; k < n; k++) {
        null_number *x = room + k * n;

        memset(x, 0, (size_t)n * sizeof *x);
        x[k] = 1;
        for (int64_t i = k - 1; i >= 0; i--) {
            null_number sum = 0, gap = A(k, k) - A(i, i);

            for (int64_t j = i + 1; j <= k; j++)
                sum += A(i, j) * x[j];
            x[i] = sum / (cabs(gap) < small ? small : gap);
        }
    }
    for (int64_t k = 0; k < n; k++) {
        null_number *x = room + k * n, y[n];
        double size;

        memset(y, 0, sizeof y);
        for (int64_t j = 0; j <= k; j++)
            for (int64_t i = 0; i < n; i++)
                y[i] += z[i + j * n] * x[j];
        size = length(y, n);
        for (int64_t i = 0; i < n; i++)
            x[i] = y[i] / size;
    }
}

int
td_null_eig(null_number *a, int64_t n, null_number *w, null_number *v)
{
    int64_t m = n, hi = n - 1;
    null_number z[n * n], s[n];
    double c[n];

    make_hessenberg(a, n, z);
    for (int turn = 0; hi > 0; turn++) {
        int64_t lo = hi;

        while (lo > 0 && cabs(A(lo, lo - 1)) > 1e-16 * (cabs(A(lo, lo)) + cabs(A(lo - 1, lo - 1))))
            lo--;
        if (lo > 0)
            A(lo, lo - 1) = 0;
        if (lo == hi) {
            hi--;
            turn = -1;
        } else if (turn > 300)
            return (int)hi + 1;
        else
            qr_step(a, n, z, lo, hi, shift_of(a, n, hi, turn), c, s);
    }
    for (int64_t i = 0; i < n; i++)
        w[i] = A(i, i);
    vectors(a, n, z, v);
    return 0;
}
