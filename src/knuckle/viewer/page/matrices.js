// Vectors are arrays of three, matrices arrays of sixteen in columns, quaternions (w, x, y, z).

const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const scale = (s, a) => [s * a[0], s * a[1], s * a[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => scale(1 / (Math.hypot(...a) || 1), a);
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

function product(A, B) {
  const C = new Float32Array(16);
  for (let j = 0; j < 4; j++)
    for (let i = 0; i < 4; i++)
      for (let k = 0; k < 4; k++) C[4 * j + i] += A[4 * k + i] * B[4 * j + k];
  return C;
}

function perspective(fov, aspect, near, far) {
  const f = 1 / Math.tan(fov / 2), d = near - far;
  return new Float32Array([f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / d, -1, 0, 0, 2 * far * near / d, 0]);
}

function orthographic(r, near, far) {
  const d = near - far;
  return new Float32Array([1 / r, 0, 0, 0, 0, 1 / r, 0, 0, 0, 0, 2 / d, 0, 0, 0, (far + near) / d, 1]);
}

function lookAt(eye, target, up) {
  const z = unit(sub(eye, target)), x = unit(cross(up, z)), y = cross(z, x);
  return new Float32Array([x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, eye), -dot(y, eye), -dot(z, eye), 1]);
}

function poseMatrix(p, k) {
  const w = p[k], x = p[k + 1], y = p[k + 2], z = p[k + 3], s = 2 / (w * w + x * x + y * y + z * z);
  return new Float32Array([
    1 - s * (y * y + z * z), s * (x * y + w * z), s * (x * z - w * y), 0,
    s * (x * y - w * z), 1 - s * (x * x + z * z), s * (y * z + w * x), 0,
    s * (x * z + w * y), s * (y * z - w * x), 1 - s * (x * x + y * y), 0,
    p[k + 4], p[k + 5], p[k + 6], 1,
  ]);
}

// Between two rows of poses (w, x, y, z, px, py, pz): positions on the line, rotations on the short arc.
function between(rows, a, b, s, width, out) {
  for (let k = 0; k < width; k += 7) {
    const i = a * width + k, j = b * width + k;
    let d = 0;
    for (let m = 0; m < 4; m++) d += rows[i + m] * rows[j + m];
    const t = d < 0 ? -s : s;
    for (let m = 0; m < 4; m++) out[k + m] = (1 - s) * rows[i + m] + t * rows[j + m];
    for (let m = 4; m < 7; m++) out[k + m] = (1 - s) * rows[i + m] + s * rows[j + m];
  }
  return out;
}
