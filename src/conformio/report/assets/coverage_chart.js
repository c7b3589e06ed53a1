// Coverage of the test decisions against the level, over its exact band.
function startCoverageChart() {
  const { level, coverage, low, high } = report.curve;
  const holder = at("coverage-chart");
  const plot = plotOf(holder, 340, "", (inner) => {
    const x = scaleOf(0, 1, inner.left, inner.right);
    const y = scaleOf(0, 1, inner.bottom, inner.top);
    const upper = level.map((one, k) => [x(one), y(high[k])]);
    const lower = level.map((one, k) => [x(one), y(low[k])]).reverse();
    const now = currentLevel();
    const right = now.level > 0.75;
    return [
      draw("path", { class: "band", d: `${lineThrough([...upper, ...lower])}Z` }),
      axesOf(inner, x, y, { x: "confidence level" }, ticksOf(0, 1, 5), ticksOf(0, 1, 5)),
      draw("line", { class: "band-now", x1: x(now.level), x2: x(now.level), y1: y(now.band[0]), y2: y(now.band[1]) }),
      draw("path", { class: "identity", d: lineThrough([[x(0), y(0)], [x(1), y(1)]]) }),
      draw("path", { class: "curve", d: lineThrough(level.map((one, k) => [x(one), y(coverage[k])])) }),
      draw("line", { class: "now-line", x1: x(now.level), x2: x(now.level), y1: inner.bottom, y2: y(now.coverage) }),
      draw("circle", { class: "dot", cx: x(now.level), cy: y(now.coverage), r: 5.5 }),
      draw(
        "text",
        { class: "now-text", x: x(now.level) + (right ? -10 : 10), y: inner.bottom - 10, "text-anchor": right ? "end" : "start" },
        `${percent(now.coverage)} at level ${now.level}`,
      ),
    ];
  });
  holder.prepend(
    legendOf([
      { name: "coverage of the test decisions", shape: draw("line", { x1: 0, x2: 28, y1: 6, y2: 6, class: "curve" }) },
      { name: "exact 99% band", shape: draw("rect", { width: 28, height: 12, class: "band" }) },
      { name: "coverage = level", shape: draw("line", { x1: 0, x2: 28, y1: 6, y2: 6, class: "identity" }) },
    ]),
  );
  const show = () => {
    const now = currentLevel();
    const [least, most] = now.band;
    plot.describe(`Coverage against level. At level ${now.level} it is ${percent(now.coverage)}; the 99% band goes from ${percent(least)} to ${percent(most)}.`);
    plot.again();
  };
  whenChanged(["level"], show);
  show();
  const rows = level.map((one, k) => ({ cells: [one.toFixed(2), percent(coverage[k]), percent(low[k]), percent(high[k])] }));
  at("coverage-table").append(tableOf("Coverage at each level", ["Level", "Coverage", "Band from", "to"], rows));
}
