// Lines over time on a canvas, with a mark at the present. Dragging on a plot moves the time.

const COLORS = ["#d9661f", "#2b7fb8", "#2f9e6e", "#c2455c", "#7a5fb5", "#c79a1c", "#3aa3a8", "#8a6d52", "#e07fa8", "#5f7d2e"];

const MOST = 10; // lines shown at first; the legend shows and hides them

class Plot {
  constructor(canvas, legend, seek) {
    Object.assign(this, { canvas, legend, times: [0, 1], lines: [], hidden: new Set() });
    const move = (event) => {
      const box = canvas.getBoundingClientRect(), [x0, x1] = this.span || [0, 1];
      const t = this.times, s = clamp((event.clientX - box.left - x0) / (x1 - x0), 0, 1);
      seek(t[0] + s * (t[t.length - 1] - t[0]));
    };
    canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); move(event); });
    canvas.addEventListener("pointermove", (event) => { if (event.buttons) move(event); });
  }

  // `lines`: [{name, unit, values}]
  show(times, lines) {
    const units = new Set(lines.map((line) => line.unit));
    Object.assign(this, { times, lines, hidden: new Set(lines.map((_, k) => k).slice(MOST)), still: null });
    this.unit = units.size === 1 ? [...units][0] : "";
    this.legend.replaceChildren(...lines.map((line, k) => {
      const button = document.createElement("button"), dash = document.createElement("i"), name = document.createElement("span");
      dash.style.background = line.color || COLORS[k % COLORS.length];
      name.textContent = line.unit && !this.unit ? `${line.name} (${line.unit})` : line.name;
      button.append(dash, name);
      button.classList.toggle("off", this.hidden.has(k));
      button.onclick = () => {
        this.hidden.has(k) ? this.hidden.delete(k) : this.hidden.add(k);
        button.classList.toggle("off", this.hidden.has(k));
        this.still = null;
        this.draw(this.now);
      };
      return button;
    }));
  }

  range() {
    let low = Infinity, high = -Infinity;
    this.lines.forEach((line, k) => {
      if (this.hidden.has(k)) return;
      for (const y of line.values) if (Number.isFinite(y)) { low = Math.min(low, y); high = Math.max(high, y); }
    });
    if (!(low < Infinity)) return [-1, 1];
    const room = 0.08 * (high - low) || 0.1 * Math.abs(high) || 1;
    return [low - room, high + room];
  }

  draw(now) {
    this.now = now;
    const ratio = window.devicePixelRatio || 1, w = this.canvas.clientWidth, h = this.canvas.clientHeight;
    if (!w || !h) return;
    if (this.canvas.width !== Math.round(w * ratio) || this.canvas.height !== Math.round(h * ratio)) {
      this.canvas.width = Math.round(w * ratio);
      this.canvas.height = Math.round(h * ratio);
      this.still = null;
    }
    this.still = this.still || this.lasting(w, h, ratio);
    const c = this.canvas.getContext("2d"), style = getComputedStyle(document.documentElement), { px, py, box } = this.still;
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, this.canvas.width, this.canvas.height);
    c.drawImage(this.still.image, 0, 0);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.strokeStyle = style.getPropertyValue("--ink");
    c.globalAlpha = 0.5;
    c.beginPath();
    c.moveTo(px(now), box[1]);
    c.lineTo(px(now), box[3]);
    c.stroke();
    c.globalAlpha = 1;
    this.lines.forEach((line, k) => {
      const y = this.hidden.has(k) ? NaN : valueAt(this.times, line.values, now);
      if (!Number.isFinite(y)) return;
      c.fillStyle = line.color || COLORS[k % COLORS.length];
      c.beginPath();
      c.arc(px(now), py(y), 3, 0, 7);
      c.fill();
    });
  }

  // What does not change while time runs: grid, numbers and lines.
  lasting(w, h, ratio) {
    const image = document.createElement("canvas");
    image.width = this.canvas.width;
    image.height = this.canvas.height;
    const c = image.getContext("2d"), style = getComputedStyle(document.documentElement), [low, high] = this.range();
    const t = this.times, t0 = t[0], t1 = t[t.length - 1], box = [40, 6, w - 6, h - 20];
    const px = (x) => box[0] + (x - t0) / (t1 - t0 || 1) * (box[2] - box[0]);
    const py = (y) => box[3] - (y - low) / (high - low) * (box[3] - box[1]);
    this.span = [box[0], box[2]];
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.font = "11px system-ui, sans-serif";
    c.strokeStyle = style.getPropertyValue("--line");
    c.fillStyle = style.getPropertyValue("--soft");
    const line = (x0, y0, x1, y1) => { c.beginPath(); c.moveTo(x0, y0); c.lineTo(x1, y1); c.stroke(); };
    c.textAlign = "right";
    c.textBaseline = "middle";
    for (const y of ticks(low, high, Math.max(2, h / 45))) { line(box[0], py(y), box[2], py(y)); c.fillText(short(y), box[0] - 6, py(y)); }
    c.textAlign = "center";
    c.textBaseline = "top";
    for (const x of ticks(t0, t1, Math.max(2, w / 70))) { line(px(x), box[1], px(x), box[3]); c.fillText(short(x) + " s", clamp(px(x), box[0], box[2] - 8), box[3] + 6); }
    c.lineWidth = 1.6;
    c.lineJoin = "round";
    this.lines.forEach((series, k) => {
      if (this.hidden.has(k)) return;
      c.strokeStyle = series.color || COLORS[k % COLORS.length];
      c.setLineDash(series.dash || []);
      c.beginPath();
      series.values.forEach((y, i) => c.lineTo(px(t[i]), py(y)));
      c.stroke();
    });
    return { image, px, py, box };
  }
}

function ticks(low, high, about) {
  const raw = (high - low) / about || 1, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((k) => k * power >= raw), found = [];
  for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found;
}

const short = (x) => String(+x.toPrecision(4)).replace("-", "−");

// The place of a time in a sorted list: the index before it and the fraction to the next.
function locate(times, t) {
  let low = 0, high = times.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle; else high = middle;
  }
  return [low, high, times[high] > times[low] ? clamp((t - times[low]) / (times[high] - times[low]), 0, 1) : 1];
}

function valueAt(times, values, t) {
  const [i, j, s] = locate(times, t);
  return (1 - s) * values[i] + s * values[j];
}
