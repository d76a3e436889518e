/*
 * pendulum: inverse dynamics of a pendulum
 *
 *   q[1]
 *   v[1]
 *   a[1]
 *   out[1], written: 1, row by row
 *
 * 3 multiplications, 2 additions, 0 divisions, 0 square roots,
 * 1 other functions. C99, no state, no allocation.
 */
#include <math.h>

void pendulum(const double *q, const double *v, const double *a, double *out)
{
    const double t0 = q[0];
    const double t1 = v[0];
    const double t2 = a[0];
    const double t4 = 0x1p-1 * t2;
    const double t6 = 0x1p-3 * t1;
    const double t7 = t4 + t6;
    const double t8 = sin(t0);
    const double t10 = 0x1.38p+3 * t8;
    const double t11 = t7 + t10;
    out[0] = t11;
}
