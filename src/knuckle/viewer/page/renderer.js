// A small WebGL 2 renderer: one key light with soft shadows, sky light, a ground with a grid, and picking by colour.

const VERTEX = `#version 300 es
layout(location=0) in vec3 position; layout(location=1) in vec3 normal;
uniform mat4 camera, model;
out vec3 world, facing;
void main() {
  vec4 p = model * vec4(position, 1.0);
  world = p.xyz; facing = mat3(model) * normal; gl_Position = camera * p;
}`;

const COMMON = `#version 300 es
precision highp float; precision highp sampler2DShadow;
in vec3 world, facing; out vec4 pixel;
uniform vec3 eye, sun; uniform mat4 light; uniform float texel; uniform sampler2DShadow shadows;
float lit(vec3 p, vec3 n) {
  vec3 c = (light * vec4(p + n * texel * 2.0, 1.0)).xyz * 0.5 + 0.5;
  if (any(lessThan(c.xy, vec2(0.0))) || any(greaterThan(c.xy, vec2(1.0))) || c.z > 1.0) return 1.0;
  float sum = 0.0, pace = 1.7 / float(textureSize(shadows, 0).x);
  for (int i = -2; i <= 2; i++) for (int j = -2; j <= 2; j++)
    sum += texture(shadows, vec3(c.xy + pace * vec2(i, j), c.z - 0.0006));
  return sum / 25.0;
}`;

const SOLID = COMMON + `
uniform vec4 color; uniform float glow; uniform vec3 sky, earth; uniform vec4 mark;
vec3 curve(vec3 x) { return clamp((x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0); }
void main() {
  if (mark.a > 0.0) { pixel = mark; return; }
  vec3 n = normalize(facing), v = normalize(eye - world), albedo = pow(color.rgb, vec3(2.2));
  if (dot(n, v) < 0.0) n = -n;
  vec3 h = normalize(v + sun), fill = normalize(vec3(-sun.x, -sun.y, 0.4));
  float shade = lit(world, n), key = max(dot(n, sun), 0.0) * shade, fresnel = pow(1.0 - max(dot(n, v), 0.0), 4.0);
  vec3 around = mix(earth, sky, 0.5 + 0.5 * n.z);
  vec3 c = albedo * (1.95 * key * vec3(1.0, 0.97, 0.92) + 0.62 * around + 0.32 * max(dot(n, fill), 0.0) * vec3(0.85, 0.92, 1.0));
  c += 0.28 * pow(max(dot(n, h), 0.0), 48.0) * shade + 0.16 * fresnel * around;
  c = mix(c, vec3(1.0, 0.42, 0.08), glow);
  pixel = vec4(pow(curve(c * 0.92), vec3(1.0 / 2.2)), color.a);
}`;

const GROUND = COMMON + `
uniform vec3 paper, ink; uniform float cell, reach, depth; uniform vec3 centre;
float grid(vec2 p, float size, float width) {
  vec2 q = p / size, d = fwidth(q) * width, near = abs(fract(q - 0.5) - 0.5);
  vec2 line = 1.0 - smoothstep(d * 0.5, d * 0.5 + fwidth(q), near);
  vec2 fine = clamp(1.0 - fwidth(q) * 3.0, 0.0, 1.0);
  return max(line.x * fine.x, line.y * fine.y);
}
void main() {
  float far = length(world.xy - centre.xy) / reach, fade = 1.0 - smoothstep(0.25, 1.0, far);
  float lines = max(0.30 * grid(world.xy, cell, 0.6), 0.55 * grid(world.xy, 5.0 * cell, 1.0));
  float dark = depth * (1.0 - lit(world, vec3(0.0, 0.0, 1.0))) * (1.0 - smoothstep(0.6, 1.0, far));
  vec3 c = mix(paper, ink, lines);
  float a = max(lines * fade, 0.0);
  pixel = vec4(mix(c, vec3(0.03, 0.04, 0.06), dark), max(a, dark));
  if (pixel.a < 0.004) discard;
}`;

const BACK = `#version 300 es
void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.9999, 1.0); }`;
const BACKGROUND = `#version 300 es
precision highp float; uniform vec3 top, bottom; uniform vec2 size; out vec4 pixel;
void main() {
  vec2 p = gl_FragCoord.xy / size;
  float noise = fract(sin(dot(gl_FragCoord.xy, vec2(12.9898, 78.233))) * 43758.5453) / 255.0;
  pixel = vec4(mix(bottom, top, smoothstep(0.0, 0.9, p.y)) + noise, 1.0);
}`;
const DEPTH = `#version 300 es
precision highp float; in vec3 world, facing; out vec4 pixel; void main() { pixel = vec4(1.0); }`;

const THEMES = {
  light: { top: [0.87, 0.90, 0.93], bottom: [0.97, 0.975, 0.98], ink: [0.42, 0.47, 0.53], sky: [0.88, 0.93, 1.0], earth: [0.46, 0.44, 0.42], depth: 0.42 },
  dark: { top: [0.07, 0.085, 0.105], bottom: [0.15, 0.17, 0.20], ink: [0.50, 0.56, 0.63], sky: [0.62, 0.70, 0.82], earth: [0.22, 0.21, 0.21], depth: 0.7 },
};
const SHADOW = 2048;

// What a line (radius, height) sweeps about the z axis, closed below: corners and triangles.
function turned([[r0, z0], [r1, z1]], sides = 20) {
  const positions = new Float32Array(6 * sides + 3), indices = new Uint16Array(9 * sides);
  positions[6 * sides + 2] = z0;
  for (let k = 0; k < sides; k++) {
    const c = Math.cos(2 * Math.PI * k / sides), s = Math.sin(2 * Math.PI * k / sides), n = (k + 1) % sides;
    positions.set([r0 * c, r0 * s, z0, r1 * c, r1 * s, z1], 6 * k);
    indices.set([2 * k, 2 * n, 2 * k + 1, 2 * k + 1, 2 * n, 2 * n + 1, 2 * k, 2 * sides, 2 * n], 9 * k);
  }
  return [positions, indices];
}

// The matrix that puts a shaft of length 1 along z between two points; a little longer, so that bends have no gaps.
const rod = (from, to, width) => {
  const way = sub(to, from), length = Math.hypot(...way), z = length > 1e-9 ? scale(1 / length, way) : [0, 0, 1];
  const x = unit(cross(Math.abs(z[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0], z)), more = 0.3 * width;
  return new Float32Array([...scale(width, x), 0, ...scale(width, cross(z, x)), 0, ...scale(length + 2 * more, z), 0, ...add(from, scale(-more, z)), 1]);
};

class Renderer {
  constructor(canvas, parts) {
    const gl = this.gl = canvas.getContext("webgl2", { antialias: true, alpha: false, preserveDrawingBuffer: true });
    if (!gl) throw new Error("This browser has no WebGL 2.");
    this.canvas = canvas;
    this.sun = unit([0.42, -0.55, 0.95]);
    this.programs = {
      solid: this.program(VERTEX, SOLID), ground: this.program(VERTEX, GROUND),
      depth: this.program(VERTEX, DEPTH), back: this.program(BACK, BACKGROUND),
    };
    this.parts = parts.map((part) => ({ ...part, mesh: this.mesh(part.positions, part.indices) }));
    this.parts.sort((a, b) => b.color[3] - a.color[3]);
    this.plane = this.mesh(new Float32Array([-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0]), new Uint32Array([0, 1, 2, 0, 2, 3]));
    this.shaft = this.mesh(...turned([[1, 0], [1, 1]]));
    this.head = this.mesh(...turned([[1, 0], [0, 1]]));
    this.empty = gl.createVertexArray();
    this.shadowMap();
    this.picking();
  }

  program(vertex, fragment) {
    const gl = this.gl, p = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(p, shader);
    }
    gl.linkProgram(p);
    if (!gl.getProgramParameter(p, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(p));
    const places = new Map();
    return { p, at: (name) => places.has(name) ? places.get(name) : (places.set(name, gl.getUniformLocation(p, name)), places.get(name)) };
  }

  // The normal of a vertex is the mean of its triangles, by area.
  mesh(positions, indices) {
    const gl = this.gl, normals = new Float32Array(positions.length), corner = (i) => positions.subarray(3 * i, 3 * i + 3);
    for (let f = 0; f < indices.length; f += 3) {
      const [i, j, k] = indices.subarray(f, f + 3), a = corner(i), n = cross(sub(corner(j), a), sub(corner(k), a));
      for (const v of [i, j, k]) for (let m = 0; m < 3; m++) normals[3 * v + m] += n[m];
    }
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    [positions, normals].forEach((data, place) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, 3, gl.FLOAT, false, 0, 0);
    });
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, indices, gl.STATIC_DRAW);
    gl.bindVertexArray(null);
    return { array, count: indices.length, kind: indices instanceof Uint16Array ? gl.UNSIGNED_SHORT : gl.UNSIGNED_INT };
  }

  shadowMap() {
    const gl = this.gl;
    this.shadow = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.shadow);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, SHADOW, SHADOW);
    for (const [name, value] of [
      [gl.TEXTURE_MIN_FILTER, gl.LINEAR], [gl.TEXTURE_MAG_FILTER, gl.LINEAR], [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE],
      [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE], [gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE], [gl.TEXTURE_COMPARE_FUNC, gl.LEQUAL],
    ]) gl.texParameteri(gl.TEXTURE_2D, name, value);
    this.shadowBuffer = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadowBuffer);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, this.shadow, 0);
    gl.drawBuffers([gl.NONE]);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  picking() {
    const gl = this.gl;
    this.pickBuffer = gl.createFramebuffer();
    this.pickSize = [0, 0];
    this.pickColor = gl.createRenderbuffer();
    this.pickDepth = gl.createRenderbuffer();
  }

  uniforms(program, values) {
    const gl = this.gl;
    for (const [name, value] of Object.entries(values)) {
      const at = program.at(name);
      if (at === null) continue;
      if (typeof value === "number") gl.uniform1f(at, value);
      else if (value.length === 16) gl.uniformMatrix4fv(at, false, value);
      else gl["uniform" + value.length + "fv"](at, value);
    }
  }

  draw(mesh) {
    this.gl.bindVertexArray(mesh.array);
    this.gl.drawElements(this.gl.TRIANGLES, mesh.count, mesh.kind, 0);
  }

  // `matrices`: the pose of each body; `view`: {eye, target, fov, near, far}; `scene`: {centre, radius, ground, cell, theme, hovered}.
  render(matrices, view, scene) {
    const gl = this.gl, { width, height } = this.canvas, theme = THEMES[scene.theme], { solid, ground, depth, back } = this.programs;
    const r = scene.radius * 1.25, from = add(scene.centre, scale(4 * r, this.sun));
    const light = product(orthographic(r, 0.1 * r, 8 * r), lookAt(from, scene.centre, [0, 0, 1]));
    const camera = product(perspective(view.fov, width / height, view.near, view.far), lookAt(view.eye, view.target, [0, 0, 1]));
    const shared = { camera, light, eye: view.eye, sun: this.sun, texel: 2 * r / SHADOW };

    gl.enable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadowBuffer);
    gl.viewport(0, 0, SHADOW, SHADOW);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.useProgram(depth.p);
    this.uniforms(depth, { camera: light });
    for (const part of this.parts) {
      this.uniforms(depth, { model: matrices[part.body] });
      this.draw(part.mesh);
    }
    for (const line of scene.lines || []) {
      this.uniforms(depth, { model: rod(line.from, line.to, line.width) });
      this.draw(this.shaft);
    }

    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, width, height);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.useProgram(back.p);
    this.uniforms(back, { top: theme.top, bottom: theme.bottom, size: [width, height] });
    gl.bindVertexArray(this.empty);
    gl.depthMask(false);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.depthMask(true);

    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.shadow);
    gl.useProgram(solid.p);
    this.uniforms(solid, { ...shared, sky: theme.sky, earth: theme.earth, mark: [0, 0, 0, 0] });
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    for (const part of this.parts) {
      (part.color[3] < 1 ? gl.enable : gl.disable).call(gl, gl.BLEND);
      this.uniforms(solid, { model: matrices[part.body], color: part.color, glow: part.body === scene.hovered ? 0.22 : 0 });
      this.draw(part.mesh);
    }

    gl.disable(gl.BLEND);
    for (const line of scene.lines || []) {
      this.uniforms(solid, { model: rod(line.from, line.to, line.width), color: [...line.color, 1], glow: 0.06 });
      this.draw(this.shaft);
    }
    this.drawArrows(scene.arrows || [], camera, theme.bottom);
    gl.useProgram(ground.p);
    const reach = 14 * scene.size, floor = new Float32Array([reach, 0, 0, 0, 0, reach, 0, 0, 0, 0, 1, 0, scene.centre[0], scene.centre[1], scene.ground, 1]);
    this.uniforms(ground, { ...shared, model: floor, paper: theme.bottom, ink: theme.ink, depth: theme.depth, cell: scene.cell, reach: 0.9 * reach, centre: scene.centre });
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    this.draw(this.plane);
    gl.depthMask(true);
    this.camera = camera;
  }

  // Arrows in plain colours with a light rim, and faintly what is hidden of them.
  drawArrows(arrows, camera, rim) {
    const gl = this.gl, { solid } = this.programs;
    if (!arrows.length) return;
    const shown = arrows.map(({ tail, way, color, width }) => {
      const length = Math.hypot(...way), z = unit(way), x = unit(cross(Math.abs(z[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0], z)), y = cross(z, x);
      const w = width * Math.min(1, length / (6 * width)), head = Math.min(4 * w, 0.5 * length), neck = length - head;
      const pose = (r, l, at) => new Float32Array([...scale(r, x), 0, ...scale(r, y), 0, ...scale(l, z), 0, ...add(tail, scale(at, z)), 1]);
      const edge = 0.45 * w;
      return { color, own: [pose(w, neck, 0), pose(2.1 * w, head, neck)], outer: [pose(w + edge, neck + edge, -edge), pose(2.1 * w + 2 * edge, head + 3 * edge, neck - edge)] };
    });
    const all = (which, mark) => shown.forEach((arrow) => [this.shaft, this.head].forEach((mesh, k) => {
      this.uniforms(solid, { model: arrow[which][k], mark: mark(arrow) });
      this.draw(mesh);
    }));
    gl.useProgram(solid.p);
    this.uniforms(solid, { camera });
    gl.enable(gl.BLEND);
    gl.disable(gl.DEPTH_TEST);
    all("own", ({ color }) => [...color, 0.3]);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.CULL_FACE);
    gl.cullFace(gl.FRONT);
    all("outer", () => [...rim, 1]);
    gl.disable(gl.CULL_FACE);
    all("own", ({ color }) => [...color, 1]);
  }

  // The body drawn at a pixel, counted from the upper left corner; −1 for none.
  pick(x, y, matrices) {
    const gl = this.gl, { width, height } = this.canvas, { solid } = this.programs;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.pickBuffer);
    if (this.pickSize[0] !== width || this.pickSize[1] !== height) {
      for (const [buffer, format, place] of [[this.pickColor, gl.RGBA8, gl.COLOR_ATTACHMENT0], [this.pickDepth, gl.DEPTH_COMPONENT24, gl.DEPTH_ATTACHMENT]]) {
        gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
        gl.renderbufferStorage(gl.RENDERBUFFER, format, width, height);
        gl.framebufferRenderbuffer(gl.FRAMEBUFFER, place, gl.RENDERBUFFER, buffer);
      }
      this.pickSize = [width, height];
    }
    gl.viewport(0, 0, width, height);
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(x, height - 1 - y, 1, 1);
    gl.disable(gl.BLEND);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.useProgram(solid.p);
    this.uniforms(solid, { camera: this.camera });
    for (const part of this.parts) {
      const n = part.body + 1;
      this.uniforms(solid, { model: matrices[part.body], mark: [(n & 255) / 255, ((n >> 8) & 255) / 255, (n >> 16) / 255, 1] });
      this.draw(part.mesh);
    }
    const found = new Uint8Array(4);
    gl.readPixels(x, height - 1 - y, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, found);
    gl.disable(gl.SCISSOR_TEST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return found[3] ? found[0] + (found[1] << 8) + (found[2] << 16) - 1 : -1;
  }
}
