// The slider over the levels worked out beforehand, and the numbers that follow it.
function startLevelControl() {
  const bar = at("level-bar");
  const last = report.levels.length - 1;
  const now = make("div", { class: "now", id: "level-now" });
  const brief = make("div", { class: "brief" });
  const slider = make("input", { type: "range", id: "level", min: 0, max: last, step: 1, value: chosen.level, disabled: last === 0 });
  slider.addEventListener("input", () => choose("level", Number(slider.value)));
  bar.append(
    make("div", { class: "which" }, make("label", { for: "level" }, make("span", { class: "long" }, "Confidence "), "level"), now),
    make("div", { class: "slide" }, slider),
    brief,
  );
  bar.hidden = false;
  const show = () => {
    const one = currentLevel();
    now.textContent = String(one.level);
    slider.value = chosen.level;
    slider.setAttribute("aria-valuetext", `level ${one.level}${chosen.level === report.own ? ", the model's own" : ""}`);
    const own = chosen.level === report.own ? make("span", { class: "own" }, "the model's own level") : null;
    brief.replaceChildren(`angle ${degrees(one.angle)}, coverage ${percent(one.coverage)}`, ...(own ? [own] : []));
    showTiles(one);
  };
  whenChanged(["level"], show);
  show();
}

function showTiles(one) {
  const { classic } = report;
  const versus = (value, other) => (other === null ? "" : `classic ${percent(other)}`);
  const tiles = [
    ["Angle of the cap", degrees(one.angle), one.angle >= Math.PI ? "the cap is everything" : "around the estimate"],
    ["Coverage", percent(one.coverage), `99% band ${percent(one.band[0])} to ${percent(one.band[1])}`],
    ["Exact match", percent(one.exact), versus(one.exact, classic.exact)],
    ...(one.overlap === null ? [] : [["Overlap", percent(one.overlap), versus(one.overlap, classic.overlap)]]),
    ["Differ from classic", percent(one.differs), "of the prescriptions"],
    ["Extra estimated cost", percent(one.extra, 2), `beyond classic; ${gapWords(one.gap)}`],
  ];
  at("tiles").replaceChildren(
    ...tiles.map(([name, value, more]) =>
      make("div", { class: "tile" }, make("div", { class: "label" }, name), make("div", { class: "value" }, value), make("div", { class: "more" }, more)),
    ),
  );
  showMethods(one);
}

function gapWords(gap) {
  if (gap === null) return "gap unknown for some";
  return gap <= 1e-7 ? "proven optimal" : `certified gap at most ${gap.toExponential(1)}`;
}

function showMethods(one) {
  const { classic, baseline } = report;
  const row = (name, method) => ({ cells: [name, percent(method.exact), percent(method.overlap), method.n.toLocaleString("en")] });
  const rows = [row("Classic", classic), row(`Robust, level ${one.level}`, one)];
  if (baseline !== null) rows.push(row(`Baseline: ${baseline.name}`, baseline));
  at("methods").replaceChildren(
    tableOf("How much of what people did each method prescribes", ["Method", "Exactly the same", "Overlap", "Decisions"], rows),
  );
}
