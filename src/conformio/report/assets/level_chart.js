// Adherence of all methods against the level; the axis spans what they reach, as differences are small beside the whole.
function startLevelChart() {
  const { levels, classic, baseline } = report;
  if (levels.length < 2) return;
  const holder = at("level-chart");
  const kind = classic.overlap === null ? "exact" : "overlap";
  const reached = [classic[kind], ...(baseline ? [baseline[kind]] : []), ...levels.map((one) => one[kind])].filter((share) => share !== null);
  const [least, most] = [Math.min(...reached), Math.max(...reached)];
  const room = Math.max(0.02, 0.2 * (most - least));
  const [low, high] = [Math.max(0, least - room), Math.min(1, most + room)];
  const plot = plotOf(holder, 280, "", (inner) => {
    const x = scaleOf(levels[0].level, levels[levels.length - 1].level, inner.left + 8, inner.right - 8);
    const y = scaleOf(low, high, inner.bottom, inner.top);
    const across = (share, name, dash) =>
      share === null ? null : draw("line", { class: `series ${name}`, x1: inner.left, x2: inner.right, y1: y(share), y2: y(share), "stroke-dasharray": dash });
    const line = (value, name) => draw("path", { class: `series ${name}`, d: lineThrough(levels.map((one) => [x(one.level), y(value(one))])) });
    const now = currentLevel();
    return [
      axesOf(inner, x, y, { x: low > 0 ? "confidence level (the vertical axis does not begin at 0)" : "confidence level" }, ticksOf(levels[0].level, levels[levels.length - 1].level, 5), ticksOf(low, high, 5)),
      across(classic[kind], "classic", "7 4"),
      baseline ? across(baseline[kind], "baseline", "2 3") : null,
      line((one) => one[kind], "robust"),
      draw("line", { class: "now-line", x1: x(now.level), x2: x(now.level), y1: inner.bottom, y2: inner.bottom - 8 }),
      draw("circle", { class: "dot", cx: x(now.level), cy: y(now[kind]), r: 5.5 }),
    ].filter((shape) => shape !== null);
  });
  const measure = kind === "overlap" ? "overlap with what people did" : "the same as what people did";
  holder.prepend(
    legendOf([
      { name: `robust: ${measure}`, shape: strokeShape("robust") },
      { name: "classic", shape: strokeShape("classic", "7 4") },
      ...(baseline ? [{ name: baseline.name, shape: strokeShape("baseline", "2 3") }] : []),
    ]),
  );
  const show = () => {
    const now = currentLevel();
    plot.describe(`Adherence against level. At level ${now.level}: robust ${percent(now[kind])}, classic ${percent(classic[kind])}; ${percent(now.differs)} of the prescriptions differ.`);
    plot.again();
  };
  whenChanged(["level"], show);
  show();
}
