// The map with its buttons and legend, and the routes of the trip chosen in words.
function startMap(holder) {
  const canvas = make("canvas", { id: "map", tabindex: "0", role: "application", "aria-label": "", "aria-describedby": "map-help" });
  const button = (text, label, act) => make("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
  const frame = make("div", { class: "map" }, canvas);
  const words = make("div", { id: "trip-words", "aria-live": "polite" });
  const tools = make("div", { class: "tools" }, routeLegend());
  holder.append(
    tools,
    make("div", { class: "stage" }, make("div", {}, frame, rampLegend(), mapHelp()), words),
  );
  const map = mapCanvas(canvas);
  const whole = () => map.fit([], 0);
  const near = () => (24 * map.shape.typical > 1 ? whole() : map.fit(tripNodes(), 14 * map.shape.typical));
  tools.append(
    make(
      "div",
      { class: "zoom", role: "group", "aria-label": "Zoom" },
      button("+", "Zoom in", () => zoomBy(map, STEP)),
      button("−", "Zoom out", () => zoomBy(map, 1 / STEP)),
      button("Whole network", "Show the whole network", whole),
      button("This trip", "Show the routes of this trip", near),
    ),
  );
  startMoves(map, whole);
  whenChanged(["theme"], () => { map.recolour(); paintRamp(); });
  whenChanged(["level"], () => { map.soon(); showRoutes(words, canvas); });
  whenChanged(["trip"], () => { near(); showRoutes(words, canvas); });
  new ResizeObserver(() => map.soon()).observe(frame);
  near();
  paintRamp();
  showRoutes(words, canvas);
}

function tripNodes() {
  const numbers = decisionsOf(chosen.trip, chosen.level);
  return [numbers.observed, numbers.classic, numbers.robust, numbers.baseline].flatMap((number) => nodesOf(entriesOf(number)));
}

function routeLegend() {
  const shown = ROUTES.filter(({ kind }) => kind !== "baseline" || report.baseline !== null);
  const strokes = shown.map(({ kind, name, dash }) => ({
    name: kind === "baseline" ? `Baseline: ${report.baseline.name}` : name,
    shape: strokeShape(kind, dash.join(" ") || null),
  }));
  const diamond = draw("path", { d: "M14 1 L19 6 L14 11 L9 6 Z", class: "robust", fill: "none", "stroke-width": 2 });
  return legendOf([...strokes, { name: "here robust leaves classic", shape: diamond }]);
}

function rampLegend() {
  const sorted = Float32Array.from(report.network.costs).sort();
  const number = (value) => value.toFixed(2);
  const text = `${number(sorted[0])} to ${number(sorted[sorted.length - 1])}, median ${number(sorted[sorted.length >> 1])}, in multiples of the mean; each shade holds as many edges`;
  return make("div", { class: "ramp" }, "cheap", make("canvas", { id: "ramp", width: SHADES, height: 1, "aria-hidden": "true" }), "costly", make("span", {}, `Estimated cost: ${text}.`));
}

function paintRamp() {
  const context = at("ramp").getContext("2d");
  rampColours().forEach((shade, k) => {
    context.fillStyle = shade;
    context.fillRect(k, 0, 1, 1);
  });
}

function mapHelp() {
  const computed = report.network.computed
    ? " This network came without coordinates: places are computed from its links, and distances in the picture mean nothing."
    : "";
  return make("p", { class: "note", id: "map-help" }, `Drag to move; click, then turn the wheel to zoom. Keys: arrows, + and −, 0 for the whole network.${computed}`);
}

function showRoutes(words, canvas) {
  const numbers = decisionsOf(chosen.trip, chosen.level);
  const [observed, classic, robust] = [numbers.observed, numbers.classic, numbers.robust].map(entriesOf);
  const blocks = ROUTES.filter(({ kind }) => kind !== "baseline" || report.baseline !== null).map((route) =>
    routeBlock(route, entriesOf(numbers[route.kind]), observed, classic),
  );
  const parts = partingWords(robust, classic);
  const summary = parts === null ? "Robust and classic are the same route." : `Robust and classic part ${parts}`;
  words.replaceChildren(pickedWords(), make("p", { id: "parting" }, summary), ...blocks);
  canvas.setAttribute("aria-label", `Map of the network and the routes of ${report.sample.ids[chosen.trip]}. ${summary}`);
}

function routeBlock({ kind, name }, edges, observed, classic) {
  const block = make("div", { class: `route is-${kind}` }, make("strong", {}, name));
  if (kind === "baseline" && !edges.length) {
    block.append(make("p", {}, "No decision of the baseline for this trip."));
    return block;
  }
  const beyond = costOf(classic) ? costOf(edges) / costOf(classic) - 1 : 0;
  const facts = [plural(edges.length, "edge")];
  if (kind !== "classic") facts.push(Math.abs(beyond) < 5e-6 ? "estimated cost as classic" : `estimated cost ${percent(Math.abs(beyond), 2)} ${beyond > 0 ? "above" : "below"} classic`);
  if (kind !== "observed") facts.push(`overlap with observed ${percent(shareOfCommon(edges, observed), 0)}`);
  block.append(make("p", {}, facts.join("; ")), routeText(edges, kind === "classic" ? observed : classic));
  return block;
}
