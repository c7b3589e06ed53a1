// The picture of the network: edges in shades of their cost below, the routes of one trip above.
const SHADES = 25;
const OFFSET = 5.5;

function mapGeometry() {
  const { places, tails, heads, costs } = report.network;
  const n = tails.length;
  const lengths = new Float64Array(n);
  const known = new Set();
  const ends = (a, b) => a * (places.length / 2) + b;
  for (let e = 0; e < n; e += 1) {
    lengths[e] = Math.hypot(places[2 * heads[e]] - places[2 * tails[e]], places[2 * heads[e] + 1] - places[2 * tails[e] + 1]);
    known.add(ends(tails[e], heads[e]));
  }
  const typical = Float64Array.from(lengths).sort()[n >> 1] || 0.05;
  const shades = shadesOf(costs);
  const paths = Array.from({ length: SHADES }, () => new Path2D());
  for (let e = 0; e < n; e += 1) {
    const [ax, ay, bx, by] = [places[2 * tails[e]], places[2 * tails[e] + 1], places[2 * heads[e]], places[2 * heads[e] + 1]];
    const aside = known.has(ends(heads[e], tails[e])) && lengths[e] ? (0.035 * typical) / lengths[e] : 0;
    const [dx, dy] = [(by - ay) * aside, (ax - bx) * aside];
    paths[shades[e]].moveTo(ax + dx, ay + dy);
    paths[shades[e]].lineTo(bx + dx, by + dy);
  }
  return { places, typical, paths };
}

// Shades hold equal numbers of edges; equal costs have equal shades.
function shadesOf(costs) {
  const sorted = Float32Array.from(costs).sort();
  const shade = new Map();
  for (let k = sorted.length - 1; k >= 0; k -= 1) shade.set(sorted[k], Math.floor((SHADES * k) / sorted.length));
  return Array.from(costs, (cost) => shade.get(cost));
}

function rampColours() {
  const stops = [0, 1, 2, 3, 4].map((k) => colour(`ramp-${k}`).match(/[\d.]+/g).map(Number));
  return Array.from({ length: SHADES }, (_, k) => {
    const place = (4 * k) / (SHADES - 1);
    const low = Math.min(3, Math.floor(place));
    const mixed = [0, 1, 2].map((c) => Math.round(stops[low][c] + (place - low) * (stops[low + 1][c] - stops[low][c])));
    return `rgb(${mixed.join(", ")})`;
  });
}

function mapCanvas(canvas) {
  const context = canvas.getContext("2d");
  const shape = mapGeometry();
  const view = { x: 0.5, y: 0.5, scale: 1 };
  let colours = {};
  let waiting = false;

  const width = () => canvas.clientWidth;
  const height = () => canvas.clientHeight;
  const place = (node) => [
    (shape.places[2 * node] - view.x) * view.scale + width() / 2,
    (view.y - shape.places[2 * node + 1]) * view.scale + height() / 2,
  ];

  function readColours() {
    const names = ["paper", "ink", "soft", "halo", "observed", "classic", "robust", "baseline"];
    colours = Object.fromEntries(names.map((name) => [name, colour(name)]));
    colours.ramp = rampColours();
  }

  function paint() {
    waiting = false;
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [Math.round(width() * ratio), Math.round(height() * ratio)];
    if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, w, h);
    paintEdges(ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    paintNodes();
    paintRoutes(context, place, colours);
  }

  function paintEdges(ratio) {
    const size = view.scale * ratio;
    context.setTransform(size, 0, 0, -size, (width() / 2) * ratio - view.x * size, (height() / 2) * ratio + view.y * size);
    context.lineWidth = Math.min(3.2, Math.max(0.9, 0.04 * shape.typical * view.scale)) / view.scale;
    context.lineCap = "round";
    shape.paths.forEach((path, k) => {
      context.strokeStyle = colours.ramp[k];
      context.stroke(path);
    });
  }

  function paintNodes() {
    const room = shape.typical * view.scale;
    if (room < 26) return;
    context.font = "11px system-ui, sans-serif";
    for (let node = 0; node < shape.places.length / 2; node += 1) {
      const [x, y] = place(node);
      if (x < -40 || y < -40 || x > width() + 40 || y > height() + 40) continue;
      context.fillStyle = colours.soft;
      context.beginPath();
      context.arc(x, y, 2, 0, 7);
      context.fill();
      if (room > 52) paintName(context, nodeName(node), x, y, Math.min(room, width() - 8));
    }
  }

  function soon() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(paint);
  }

  function fit(nodes, least) {
    const all = nodes.length ? nodes : Array.from({ length: shape.places.length / 2 }, (_, k) => k);
    let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const node of all) {
      left = Math.min(left, shape.places[2 * node]);
      right = Math.max(right, shape.places[2 * node]);
      low = Math.min(low, shape.places[2 * node + 1]);
      high = Math.max(high, shape.places[2 * node + 1]);
    }
    view.x = (left + right) / 2;
    view.y = (low + high) / 2;
    const room = Math.max(least, 1e-9);
    view.scale = Math.min((width() - 60) / Math.max(right - left, room), (height() - 60) / Math.max(high - low, room));
    soon();
  }

  readColours();
  return { canvas, view, shape, soon, fit, place, recolour: () => { readColours(); soon(); } };
}

// Routes side by side, in this order from left to right, so that none hides another.
function paintRoutes(context, place, colours) {
  const numbers = decisionsOf(chosen.trip, chosen.level);
  const shown = ROUTES.filter(({ kind }) => kind !== "baseline" || numbers.baseline).map((route) => ({
    ...route,
    nodes: nodesOf(entriesOf(numbers[route.kind])),
  }));
  shown.forEach((route, k) => {
    if (route.nodes.length < 2) return;
    const points = beside(route.nodes.map(place), (k - (shown.length - 1) / 2) * OFFSET);
    strokeLine(context, points, colours.halo, 8, []);
    strokeLine(context, points, colours[route.kind], 4, route.dash);
  });
  const [observed] = shown;
  if (observed.nodes.length) {
    paintEnd(context, place(observed.nodes[0]), colours, false, nodeName(observed.nodes[0]));
    paintEnd(context, place(observed.nodes[observed.nodes.length - 1]), colours, true, nodeName(observed.nodes[observed.nodes.length - 1]));
  }
  const places = partings(entriesOf(numbers.robust), entriesOf(numbers.classic));
  for (const { from } of places) paintParting(context, place(from), colours);
}

// The line moved sideways; corners stay parallel on both sides.
function beside(points, by) {
  const normal = (k) => {
    const [ax, ay] = points[k];
    const [bx, by_] = points[k + 1];
    const size = Math.hypot(bx - ax, by_ - ay) || 1;
    return [(ay - by_) / size, (bx - ax) / size];
  };
  return points.map(([x, y], k) => {
    const before = normal(Math.max(0, Math.min(k - 1, points.length - 2)));
    const after = normal(Math.min(k, points.length - 2));
    const [nx, ny] = [before[0] + after[0], before[1] + after[1]];
    const stretch = (2 * by) / Math.max(nx * nx + ny * ny, 0.5);
    return [x + nx * stretch, y + ny * stretch];
  });
}

function strokeLine(context, points, colourOfLine, size, dash) {
  context.setLineDash(dash);
  context.lineJoin = "round";
  context.lineWidth = size;
  context.strokeStyle = colourOfLine;
  context.beginPath();
  points.forEach(([x, y], k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.stroke();
  context.setLineDash([]);
}

function paintName(context, name, x, y, room) {
  const left = x + 7 + Math.min(room, context.measureText(name).width) > context.canvas.clientWidth;
  context.textAlign = left ? "right" : "left";
  context.fillText(name, x + (left ? -7 : 7), y + 13, room);
}

function paintEnd(context, [x, y], colours, full, name) {
  context.beginPath();
  context.arc(x, y, 7, 0, 7);
  context.fillStyle = full ? colours.ink : colours.paper;
  context.fill();
  context.lineWidth = 2.5;
  context.strokeStyle = colours.ink;
  context.stroke();
  context.font = "600 13px system-ui, sans-serif";
  context.lineWidth = 4;
  context.strokeStyle = colours.halo;
  const text = `${full ? "to" : "from"} ${name.length > 24 ? `${name.slice(0, 23)}…` : name}`;
  const left = x > context.canvas.clientWidth - 130;
  context.textAlign = left ? "right" : "left";
  context.strokeText(text, x + (left ? -12 : 12), y - 15);
  context.fillStyle = colours.ink;
  context.fillText(text, x + (left ? -12 : 12), y - 15);
  context.textAlign = "left";
}

function paintParting(context, [x, y], colours) {
  context.beginPath();
  context.moveTo(x, y - 8);
  context.lineTo(x + 8, y);
  context.lineTo(x, y + 8);
  context.lineTo(x - 8, y);
  context.closePath();
  context.fillStyle = colours.paper;
  context.fill();
  context.lineWidth = 2.5;
  context.strokeStyle = colours.robust;
  context.stroke();
}
