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

void pendulum(const float *q, const float *v, const float *a, float *out)
{
    const float t0 = q[0];
    const float t1 = v[0];
    const float t2 = a[0];
    const float t4 = 0x1p-1f * t2;
    const float t6 = 0x1p-3f * t1;
    const float t7 = t4 + t6;
    const float t8 = sinf(t0);
    const float t10 = 0x1.38p+3f * t8;
    const float t11 = t7 + t10;
    out[0] = t11;
}
