// Plots with axes, drawn again whenever their width changes; text keeps its size on every screen.
const EDGE = { left: 46, right: 14, top: 16, bottom: 40 };

function plotOf(holder, height, description, paint) {
  const svg = draw("svg", { role: "img", "aria-label": description });
  holder.append(svg);
  const again = () => {
    const width = Math.max(260, Math.round(holder.clientWidth));
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const inner = { left: EDGE.left, right: width - EDGE.right, top: EDGE.top, bottom: height - EDGE.bottom };
    svg.replaceChildren(...paint(inner));
  };
  new ResizeObserver(again).observe(holder);
  again();
  return { again, describe: (text) => svg.setAttribute("aria-label", text) };
}

const scaleOf = (from, to, start, end) => (value) => start + ((value - from) / (to - from || 1)) * (end - start);

// Round steps, so that about `count` of them fill the range.
function ticksOf(from, to, count) {
  const raw = (to - from) / count || 1;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * size).find((one) => one >= raw * 0.999);
  const first = Math.ceil(from / step - 1e-9);
  const ticks = [];
  for (let k = first; k * step <= to + 1e-9 * step; k += 1) ticks.push(Number((k * step).toPrecision(12)));
  return ticks;
}

function axesOf(inner, x, y, names, xTicks, yTicks, xText = String, yText = percentTick) {
  const across = yTicks.map((tick) =>
    draw(
      "g",
      {},
      draw("line", { x1: inner.left, x2: inner.right, y1: y(tick), y2: y(tick) }),
      draw("text", { x: inner.left - 8, y: y(tick) + 4, "text-anchor": "end" }, yText(tick)),
    ),
  );
  const along = xTicks.map((tick) => draw("text", { x: x(tick), y: inner.bottom + 18, "text-anchor": "middle" }, xText(tick)));
  const title = draw("text", { x: (inner.left + inner.right) / 2, y: inner.bottom + 35, "text-anchor": "middle" }, names.x);
  return draw("g", { class: "axis" }, ...across, ...along, title);
}

const percentTick = (value) => `${Number((100 * value).toFixed(3))}%`;

const lineThrough = (points) => points.map(([x, y], k) => `${k ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
