// Building elements. Text enters as text nodes only, so that no data can become markup.
const SVG = "http://www.w3.org/2000/svg";

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function make(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function draw(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function at(id) {
  return document.getElementById(id);
}

function percent(share, digits = 1) {
  if (share === null) return "–";
  const text = (100 * share).toFixed(digits);
  return `${Number(text) === 0 ? text.replace("-", "") : text}%`; // no minus before what rounds to 0
}

function degrees(angle) {
  const value = (180 * angle) / Math.PI;
  return `${value === 0 ? "0" : value.toPrecision(3)}°`;
}

function plural(n, word) {
  return `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
}

function tableOf(caption, head, rows) {
  const heading = make("tr", {}, ...head.map((name) => make("th", { scope: "col" }, name)));
  const body = rows.map(({ cells, kind }) =>
    make("tr", { class: kind ?? null }, make("th", { scope: "row" }, cells[0]), ...cells.slice(1).map((cell) => make("td", {}, cell))),
  );
  const table = make("table", {}, make("caption", {}, caption), make("thead", {}, heading), make("tbody", {}, ...body));
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, table);
}

// Short strokes beside their names; strokes differ in dashes as well as in colour.
function legendOf(entries) {
  return make(
    "ul",
    { class: "legend" },
    ...entries.map(({ name, shape }) =>
      make("li", {}, draw("svg", { viewBox: "0 0 28 12", "aria-hidden": "true" }, shape), name),
    ),
  );
}

const strokeShape = (kind, dash = null) =>
  draw("line", { x1: 0, x2: 28, y1: 6, y2: 6, class: kind, "stroke-width": 3, "stroke-dasharray": dash });
