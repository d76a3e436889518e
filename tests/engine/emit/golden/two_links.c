/*
 * two_links: inverse dynamics of two links
 *
 *   q[2]
 *   v[2]
 *   a[2]
 *   out[2], written: 2, row by row
 *
 * 11 multiplications, 7 additions, 0 divisions, 0 square roots,
 * 2 other functions. C99, no state, no allocation.
 */
#include <math.h>

void two_links(const double *q, const double *v, const double *a, double *out)
{
    const double t0 = q[1];
    const double t1 = v[0];
    const double t2 = v[1];
    const double t3 = a[0];
    const double t4 = a[1];
    const double t5 = cos(t0);
    const double t7 = sin(t0);
    const double t8 = 0x1p-1 * t7;
    const double t11 = t5 + 0x1.2p+1;
    const double t13 = 0x1p-1 * t5;
    const double t14 = 0x1p-2 + t13;
    const double t15 = 0x1p+1 * t1;
    const double t16 = t2 + t15;
    const double t17 = t2 * t16;
    const double t18 = t3 * t11;
    const double t19 = t4 * t14;
    const double t20 = t8 * t17;
    const double t21 = t18 + t19;
    const double t22 = t21 - t20;
    const double t23 = t3 * t14;
    const double t24 = 0x1p-2 * t4;
    const double t25 = t1 * t1;
    const double t26 = t8 * t25;
    const double t27 = t23 + t24;
    const double t28 = t26 + t27;
    out[0] = t22;
    out[1] = t28;
}
