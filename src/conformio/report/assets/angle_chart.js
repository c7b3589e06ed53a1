// How angles are distributed: exactly 0, in bins, beyond them, unexplained; test as bars, calibration as an outline.
function startAngleChart() {
  const { edges, test, calibration } = report.angles;
  const inDegrees = edges.map((angle) => (180 * angle) / Math.PI);
  const top = inDegrees[inDegrees.length - 1];
  const columns = (shares) => [shares.zero, ...shares.bins, shares.beyond, shares.unexplained];
  const most = Math.max(...columns(test), ...(calibration ? columns(calibration) : []));
  const holder = at("angle-chart");
  const plot = plotOf(holder, 320, "", (inner) => {
    const slot = Math.min(64, (inner.right - inner.left) / 6);
    const middle = { left: inner.left + slot, right: inner.right - 2 * slot };
    const x = scaleOf(0, top, middle.left, middle.right);
    const y = scaleOf(0, most * 1.08, inner.bottom, inner.top);
    const places = [
      [inner.left + slot * 0.2, inner.left + slot * 0.8],
      ...test.bins.map((_, k) => [x(inDegrees[k]) + 0.5, x(inDegrees[k + 1]) - 0.5]),
      [middle.right + slot * 0.2, middle.right + slot * 0.8],
      [middle.right + slot * 1.2, middle.right + slot * 1.8],
    ];
    const bars = columns(test).map((share, k) => barAt(places[k], y(share), inner.bottom, "bar"));
    const outlines = calibration ? columns(calibration).map((share, k) => barAt(places[k], y(share), inner.bottom, "outline")) : [];
    const name = (k, ...lines) =>
      draw("text", { "text-anchor": "middle" }, ...lines.map((line, row) => draw("tspan", { x: (places[k][0] + places[k][1]) / 2, y: inner.bottom + 18 + 14 * row }, line)));
    const axes = axesOf(inner, x, y, { x: "" }, ticksOf(0, top, 5).slice(1), ticksOf(0, most, 4), (tick) => `${tick}°`);
    axes.append(name(0, "exactly", "0"), name(places.length - 2, "larger"), name(places.length - 1, "un-", "explained"));
    return [axes, ...bars, ...outlines, ...calibratedMark(inner, x, top, places)];
  });
  holder.prepend(
    legendOf([
      { name: `test decisions (${test.n.toLocaleString("en")})`, shape: draw("rect", { width: 28, height: 12, class: "bar" }) },
      ...(calibration ? [{ name: `calibration decisions (${calibration.n.toLocaleString("en")})`, shape: draw("rect", { x: 1, y: 1, width: 26, height: 10, class: "outline" }) }] : []),
      { name: "calibrated angle at the level chosen", shape: strokeShape("now-line") },
    ]),
  );
  const show = () => {
    plot.describe(`Distribution of angles. ${percent(test.zero)} of the test decisions have the angle 0, ${percent(test.unexplained)} are unexplained. The calibrated angle at level ${currentLevel().level} is ${degrees(currentLevel().angle)}.`);
    plot.again();
  };
  whenChanged(["level"], show);
  show();
  at("angle-table").append(angleTable(inDegrees, columns(test), calibration ? columns(calibration) : null));
}

function barAt([left, right], top, bottom, kind) {
  const height = Math.max(0, bottom - top);
  return draw("rect", { x: left, y: bottom - height, width: Math.max(0.5, right - left), height, class: kind });
}

function calibratedMark(inner, x, top, places) {
  const angle = (180 * currentLevel().angle) / Math.PI;
  const everything = currentLevel().angle >= Math.PI;
  const last = places[places.length - 1];
  const place = everything ? last[1] + 4 : angle === 0 ? places[0][1] + 3 : x(Math.min(angle, top));
  const right = place > (inner.left + inner.right) / 2;
  return [
    draw("line", { class: "now-line", x1: place, x2: place, y1: inner.top - 6, y2: inner.bottom }),
    draw("text", { class: "now-text", x: place + (right ? -8 : 8), y: inner.top + 6, "text-anchor": right ? "end" : "start" }, `${degrees(currentLevel().angle)} at level ${currentLevel().level}`),
  ];
}

function angleTable(edges, test, calibration) {
  const names = ["exactly 0°", ...test.slice(1, -2).map((_, k) => `${edges[k].toPrecision(3)}° to ${edges[k + 1].toPrecision(3)}°`), "larger", "unexplained (180°)"];
  const head = calibration ? ["Angle", "Test", "Calibration"] : ["Angle", "Test"];
  const rows = names.map((name, k) => ({ cells: [name, percent(test[k]), ...(calibration ? [percent(calibration[k])] : [])] }));
  return tableOf("Shares of decisions by angle", head, rows);
}
