// The page: reads its data, keeps the time, moves the camera, answers keys and mouse.

const $ = (id) => document.getElementById(id);
const ICONS = { play: "M3 1.5v13l11-6.5z", pause: "M3 2h3.6v12H3zM9.4 2H13v12H9.4z" };
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
const KEYS = [["space", "play or pause"], ["← →", "step by a frame"], ["Home, End", "first and last moment"], ["− +", "slower, faster"],
  ["drag", "turn"], ["shift drag", "move"], ["wheel", "nearer, farther"], ["R", "first view"], ["F", "follow"], ["C", "contact forces"], ["L", "loop"], ["P", "plots"], ["T", "light or dark"]];

async function unpacked() {
  const header = JSON.parse($("header").textContent), bytes = Uint8Array.from(atob($("data").textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  const kinds = { f4: Float32Array, u2: Uint16Array, u4: Uint32Array };
  const array = ({ kind, start, count }) => new kinds[kind](buffer, start, count);
  let first = 0;
  const parts = [];
  for (const robot of header.robots) {
    robot.first = first;
    robot.times = array(robot.times);
    robot.poses = array(robot.poses);
    robot.width = 7 * robot.bodies.length;
    if (robot.arrows) for (const name of ["start", "tails", "ways", "slides"]) robot.arrows[name] = array(robot.arrows[name]);
    if (robot.lines) for (const name of ["start", "ends", "colors", "widths"]) robot.lines[name] = array(robot.lines[name]);
    for (const line of [...robot.joints, ...robot.energies]) line.values = array(line.values);
    for (const part of robot.parts) {
      const coarse = array(part.vertices), positions = new Float32Array(coarse.length);
      for (let k = 0; k < coarse.length; k++) positions[k] = part.low[k % 3] + coarse[k] * part.step[k % 3];
      parts.push({ body: first + part.body, color: part.color, positions, indices: array(part.faces) });
    }
    first += robot.bodies.length;
  }
  return { header, parts };
}

function start({ header, parts }) {
  const scene = $("scene"), robots = header.robots, renderer = new Renderer(scene, parts);
  const names = robots.flatMap((robot) => robot.bodies.map((name) => robots.length > 1 ? `${robot.name}: ${name}` : name));
  const t0 = Math.min(...robots.map((r) => r.times[0])), t1 = Math.max(...robots.map((r) => r.times[r.times.length - 1]));
  const state = { time: t0, playing: t1 > t0, speed: header.speed, loop: true, follow: false, forces: header.arrows, hovered: -1, mouse: null, theme: "light", frames: 0, dirty: true };
  const home = header.camera, camera = { target: [...home.target], distance: home.distance, azimuth: home.azimuth, elevation: home.elevation };
  const matrices = [], rows = robots.map((robot) => new Float32Array(robot.width));
  let size = [0, 0];

  const place = () => {
    robots.forEach((robot, k) => {
      const [i, j, s] = locate(robot.times, state.time);
      between(robot.poses, i, j, s, robot.width, rows[k]);
      for (let b = 0; b < robot.bodies.length; b++) matrices[robot.first + b] = poseMatrix(rows[k], 7 * b);
    });
  };
  // The arrows of the moment that is nearest.
  const rgb = (text) => [1, 3, 5].map((k) => parseInt(text.slice(k, k + 2), 16) / 255);
  const hues = [rgb(header.legend.stick), rgb(header.legend.slip)], pushed = robots.some((robot) => robot.arrows);
  const arrows = () => !state.forces ? [] : robots.flatMap(({ arrows: own, times }) => {
    if (!own) return [];
    const [i, j, s] = locate(times, state.time), row = s < 0.5 ? i : j, found = [];
    for (let k = own.start[row]; k < own.start[row + 1]; k++)
      found.push({ tail: own.tails.subarray(3 * k, 3 * k + 3), way: own.ways.subarray(3 * k, 3 * k + 3), color: hues[own.slides[k]], width: own.width });
    return found;
  });
  // Springs, cables and muscles at the moment that is nearest.
  const lines = () => robots.flatMap(({ lines: own, times }) => {
    if (!own) return [];
    const [i, j, s] = locate(times, state.time), row = s < 0.5 ? i : j, found = [];
    for (let k = own.start[row]; k < own.start[row + 1]; k++)
      found.push({ from: own.ends.subarray(6 * k, 6 * k + 3), to: own.ends.subarray(6 * k + 3, 6 * k + 6), color: [...own.colors.subarray(3 * k, 3 * k + 3)].map((x) => x / 255), width: own.widths[k] });
    return found;
  });
  // The ball that holds everything now: for the light to aim at, and for the camera that follows.
  const ball = () => {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    robots.forEach((robot) => robot.parts.forEach((part) => {
      const M = matrices[robot.first + part.body];
      for (let m = 0; m < 3; m++) {
        const middle = M[m] * part.middle[0] + M[4 + m] * part.middle[1] + M[8 + m] * part.middle[2] + M[12 + m];
        low[m] = Math.min(low[m], middle - part.radius);
        high[m] = Math.max(high[m], middle + part.radius);
      }
    }));
    return low[0] < high[0] ? [scale(0.5, add(low, high)), 0.5 * Math.hypot(...sub(high, low))] : [[0, 0, 0], 1];
  };
  place();
  let centre = ball()[0];

  const eye = () => {
    const { azimuth, elevation, distance, target } = camera, c = Math.cos(elevation);
    return add(target, scale(distance, [c * Math.cos(azimuth), c * Math.sin(azimuth), Math.sin(elevation)]));
  };
  const fit = () => {
    const ratio = Math.min(window.devicePixelRatio || 1, 2), w = Math.round(scene.clientWidth * ratio), h = Math.round(scene.clientHeight * ratio);
    if (w !== size[0] || h !== size[1]) { [scene.width, scene.height] = size = [w, h]; state.dirty = true; }
    return ratio;
  };
  const jointPlot = new Plot($("joint-plot"), $("joint-legend"), (t) => seek(t));
  const energyPlot = new Plot($("energy-plot"), $("energy-legend"), (t) => seek(t));
  const showRobot = (k) => {
    jointPlot.show(robots[k].times, robots[k].joints);
    energyPlot.show(robots[k].times, robots[k].energies);
    $("joint-unit").textContent = jointPlot.unit ? `(${jointPlot.unit})` : "";
    $("energy").hidden = !robots[k].energies.length;
    state.dirty = true;
  };

  const draw = () => {
    const ratio = fit();
    place();
    const [middle, radius] = ball();
    if (state.follow) camera.target = add(camera.target, sub(middle, centre));
    centre = middle;
    const view = { eye: eye(), target: camera.target, fov: 0.62, near: 0.02 * camera.distance, far: camera.distance + 60 * header.radius };
    const under = { centre: middle, radius, size: header.radius, ground: header.ground, cell: header.cell, theme: state.theme, arrows: arrows(), lines: lines() };
    renderer.render(matrices, view, { ...under, hovered: state.hovered });
    if (state.mouse) {
      const found = renderer.pick(Math.round(state.mouse[0] * ratio), Math.round(state.mouse[1] * ratio), matrices);
      $("tip").hidden = found < 0;
      if (found >= 0) {
        $("tip").textContent = names[found];
        $("tip").style.left = `${state.mouse[0]}px`;
        $("tip").style.top = `${state.mouse[1]}px`;
      }
      if (found !== state.hovered) { state.hovered = found; renderer.render(matrices, view, { ...under, hovered: found }); }
    }
    jointPlot.draw(state.time);
    energyPlot.draw(state.time);
    $("scrub").value = (state.time - t0) / (t1 - t0 || 1);
    const bold = document.createElement("b");
    bold.textContent = (state.time - t0).toFixed(2);
    $("clock").replaceChildren(bold, ` / ${(t1 - t0).toFixed(2)} s`);
    state.frames++;
    state.dirty = false;
  };

  const seek = (t) => { state.time = clamp(t, t0, t1); state.dirty = true; };
  const playing = (on) => {
    if (on && state.time >= t1) state.time = t0;
    state.playing = on;
    $("play").innerHTML = `<svg viewBox="0 0 16 16"><path d="${on ? ICONS.pause : ICONS.play}"/></svg>`;
    state.dirty = true;
  };
  const flip = (id, name, then) => { state[name] = !state[name]; $(id).classList.toggle("on", state[name]); if (then) then(); state.dirty = true; };
  const theme = (name) => {
    state.theme = document.documentElement.dataset.theme = name;
    jointPlot.still = energyPlot.still = null;
    state.dirty = true;
  };
  const speed = (by) => {
    const k = clamp(SPEEDS.findIndex((x) => x >= state.speed) + by, 0, SPEEDS.length - 1);
    state.speed = SPEEDS[k];
    $("speed").value = String(SPEEDS[k]);
  };
  const reset = () => { Object.assign(camera, home, { target: [...home.target] }); state.dirty = true; };
  const step = (by) => {
    playing(false);
    const times = robots[0].times, [i, , s] = locate(times, state.time);
    seek(times[clamp(by > 0 ? i + 1 + (s > 0.999) : i - (s < 0.001), 0, times.length - 1)]);
  };
  const plots = () => { document.body.classList.toggle("alone"); $("plots").classList.toggle("on", !document.body.classList.contains("alone")); state.dirty = true; };
  const forces = () => { flip("forces", "forces"); $("forces-legend").hidden = !(pushed && state.forces); };
  const actions = {
    " ": () => playing(!state.playing), ArrowRight: () => step(1), ArrowLeft: () => step(-1), Home: () => seek(t0), End: () => seek(t1),
    "+": () => speed(1), "=": () => speed(1), "-": () => speed(-1), r: reset, f: () => flip("follow", "follow"), c: () => pushed && forces(), p: plots, l: () => flip("loop", "loop"),
    t: () => theme(state.theme === "dark" ? "light" : "dark"), "?": () => { $("help").hidden = !$("help").hidden; },
  };
  addEventListener("keydown", (event) => {
    const action = actions[event.key.length > 1 ? event.key : event.key.toLowerCase()];
    if (!action || event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
    event.preventDefault();
    action();
  });
  for (const [id, key] of [["play", " "], ["loop", "l"], ["follow", "f"], ["forces", "c"], ["reset", "r"], ["plots", "p"], ["theme", "t"], ["ask", "?"]])
    $(id).addEventListener("click", () => { actions[key](); $(id).blur(); });
  $("scrub").addEventListener("input", () => { playing(false); seek(t0 + Number($("scrub").value) * (t1 - t0)); });
  $("speed").append(...SPEEDS.map((x) => new Option(`${x}×`, String(x), false, x === state.speed)));
  $("speed").addEventListener("change", () => { state.speed = Number($("speed").value); });
  $("robot").append(...robots.map((robot, k) => new Option(robot.name, String(k))));
  $("robot").hidden = robots.length < 2;
  $("robot").addEventListener("change", () => showRobot(Number($("robot").value)));
  $("help").replaceChildren(...KEYS.flatMap((pair) => pair.map((text, k) => Object.assign(document.createElement(k ? "span" : "b"), { textContent: text }))));

  // One finger or button turns, shift or the right button moves, two fingers or the wheel come nearer.
  const pointers = new Map();
  const shift = (dx, dy) => {
    const s = 0.62 * camera.distance / scene.clientHeight, back = unit(sub(eye(), camera.target)), right = unit(cross([0, 0, 1], back));
    camera.target = add(camera.target, add(scale(-s * dx, right), scale(s * dy, cross(back, right))));
  };
  const zoom = (factor) => { camera.distance = clamp(camera.distance * factor, 0.05 * header.radius, 40 * header.radius); state.dirty = true; };
  scene.addEventListener("pointerdown", (event) => { pointers.set(event.pointerId, [event.clientX, event.clientY]); scene.setPointerCapture(event.pointerId); });
  for (const name of ["pointerup", "pointercancel"]) scene.addEventListener(name, (event) => pointers.delete(event.pointerId));
  scene.addEventListener("pointermove", (event) => {
    const box = scene.getBoundingClientRect(), before = pointers.get(event.pointerId);
    state.mouse = before ? null : [event.clientX - box.left, event.clientY - box.top];
    state.dirty = true;
    if (!before) return;
    $("tip").hidden = true;
    const now = [event.clientX, event.clientY], dx = now[0] - before[0], dy = now[1] - before[1];
    if (pointers.size > 1) {
      const other = [...pointers].find(([id]) => id !== event.pointerId)[1], gap = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
      zoom(gap(before) / gap(now));
      shift(dx / 2, dy / 2);
    } else if (event.shiftKey || event.buttons & 6) shift(dx, dy);
    else {
      camera.azimuth -= 0.006 * dx;
      camera.elevation = clamp(camera.elevation + 0.006 * dy, -1.5, 1.5);
    }
    pointers.set(event.pointerId, now);
  });
  scene.addEventListener("pointerleave", () => { state.mouse = null; state.hovered = -1; $("tip").hidden = true; state.dirty = true; });
  scene.addEventListener("contextmenu", (event) => event.preventDefault());
  scene.addEventListener("wheel", (event) => { event.preventDefault(); zoom(Math.exp(0.0012 * event.deltaY)); }, { passive: false });
  new ResizeObserver(() => { state.dirty = true; }).observe($("stage"));

  $("heading").children[0].textContent = header.title;
  $("heading").children[1].textContent = header.subtitle;
  $("grid-size").textContent = `grid ${header.cell} m`;
  $("forces").hidden = !pushed;
  $("forces").classList.toggle("on", state.forces);
  $("forces-legend").hidden = !(pushed && state.forces);
  const swatch = (color, text) => {
    const item = document.createElement("span");
    if (color) item.append(Object.assign(document.createElement("i"), { style: `background:${color}` }));
    item.append(text);
    return item;
  };
  const { stick, slip, length } = header.legend;
  $("forces-legend").replaceChildren(swatch("", `contact forces${length && ": " + length}`), swatch(stick, "sticks"), swatch(slip, "slides"));
  $("lines-legend").hidden = !header.scales.length;
  $("lines-legend").replaceChildren(...header.scales.flatMap(({ low, high, from, to }) => {
    const bar = Object.assign(document.createElement("i"), { style: `background:linear-gradient(90deg,${low},${high})` }), item = document.createElement("span");
    item.append(from, bar, to);
    return [item];
  }));
  $("loop").classList.add("on");
  $("plots").classList.add("on");
  theme(header.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
  showRobot(0);
  playing(header.playing && state.playing);

  let last = null;
  const tick = (now) => {
    const passed = last === null ? 0 : Math.min((now - last) / 1000, 0.1);
    last = now;
    if (state.playing) {
      state.time += passed * state.speed;
      if (state.time > t1) { if (state.loop) state.time = t0; else { state.time = t1; playing(false); } }
      state.dirty = true;
    }
    if (state.dirty) draw();
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
  window.replay = { state, camera, matrices, names, renderer, seek, play: () => playing(true), pause: () => playing(false), draw, span: [t0, t1], ready: true };
}

unpacked().then(start).catch((error) => {
  $("failure").hidden = false;
  $("failure").textContent = `This replay cannot be shown. ${error.message || error}`;
  throw error;
});
