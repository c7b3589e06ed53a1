// One decision without a map: what was observed, and what each method prescribes, variable by variable.
const ROWS_SHOWN = 200;

function startComparison(holder) {
  const words = make("div", { id: "trip-words", "aria-live": "polite" });
  holder.append(words);
  const show = () => words.replaceChildren(pickedWords(), ...comparison());
  whenChanged(["level", "trip"], show);
  show();
}

function comparison() {
  const numbers = decisionsOf(chosen.trip, chosen.level);
  const kinds = ["observed", "classic", "robust", ...(report.baseline === null ? [] : ["baseline"])];
  const columns = kinds.map((kind) => (kind === "baseline" && !numbers.baseline ? null : entryMap(numbers[kind])));
  const { names, values, binary } = report.variables;
  const cell = (map, k) => {
    if (map === null) return "–";
    const value = map.get(k) ?? 0;
    return binary ? (value ? "yes" : "no") : String(Number(value.toPrecision(6)));
  };
  const all = names.length <= 40 ? names.map((_, k) => k) : [...new Set(columns.flatMap((map) => (map === null ? [] : [...map.keys()])))].sort((a, b) => a - b);
  const unlike = (k) => columns.some((map) => map !== null && Math.abs((map.get(k) ?? 0) - (columns[1].get(k) ?? 0)) > 1e-6);
  const rows = all.slice(0, ROWS_SHOWN).map((k) => ({
    kind: unlike(k) ? "differs" : null,
    cells: [names[k], ...columns.map((map) => cell(map, k)), unlike(k) ? "differ" : "", ...(values === null ? [] : [values[k].toFixed(2)])],
  }));
  const head = ["", ...kinds.map((kind) => (kind === "baseline" ? report.baseline.name : kind)), "", ...(values === null ? [] : [report.words.parameter])];
  const left = all.length > ROWS_SHOWN ? [make("p", { class: "note" }, `The first ${ROWS_SHOWN} of ${all.length} are shown.`)] : [];
  return [make("p", { id: "parting" }, comparisonWords(numbers)), tableOf(`What each method chooses at level ${currentLevel().level}`, head, rows), ...left];
}

function entryMap(number) {
  const values = valuesOf(number);
  return new Map(Array.from(entriesOf(number), (k, place) => [k, values === null ? 1 : values[place]]));
}

function comparisonWords({ observed, classic, robust }) {
  const first = robust === classic ? "Robust and classic are the same." : "Robust differs from classic.";
  const second = observed === robust ? "The robust decision is what was observed." : "The robust decision is not what was observed.";
  return `${first} ${second}`;
}
