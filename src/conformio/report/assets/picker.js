// Choosing one decision: by kind, by search, from a list, or one after the other.
const LISTED = 300;

const KINDS_OF_TRIP = [
  { name: "all", has: () => true },
  { name: "robust differs from classic", has: (one) => one.robust !== one.classic },
  { name: "observed differs from classic", has: (one) => one.observed !== one.classic },
  { name: "not covered at this level", has: (one, angle) => angle > currentLevel().angle },
  { name: "unexplained", has: (one, angle) => angle >= Math.PI },
];

function startPicker(holder) {
  const { ids, contexts, angles } = report.sample;
  const word = report.words.one;
  const texts = ids.map((id, k) => `${id} ${contexts[k]}`.toLowerCase());
  const kind = make("select", { id: "pick-kind" }, ...KINDS_OF_TRIP.map((one, k) => make("option", { value: k }, one.name)));
  const search = make("input", { type: "search", id: "pick-search", autocomplete: "off", placeholder: "id or place" });
  const list = make("select", { id: "pick-one" });
  const count = make("p", { class: "note", "aria-live": "polite" });
  const back = make("button", { type: "button", id: "pick-back", onclick: () => move(-1) }, "← Previous");
  const next = make("button", { type: "button", id: "pick-next", onclick: () => move(1) }, "Next →");
  let matches = [];

  function find() {
    const wanted = search.value.trim().toLowerCase();
    const has = KINDS_OF_TRIP[Number(kind.value)].has;
    matches = [];
    for (let k = 0; k < texts.length; k += 1) {
      if (texts[k].includes(wanted) && has(decisionsOf(k, chosen.level), angles[k])) matches.push(k);
    }
    if (matches.length && !matches.includes(chosen.trip)) choose("trip", matches[0]);
    show();
  }

  function show() {
    const place = matches.indexOf(chosen.trip);
    const first = Math.max(0, Math.min(place - LISTED / 2, matches.length - LISTED));
    const options = matches.slice(first, first + LISTED).map((k) => make("option", { value: k }, `${ids[k]}: ${contexts[k]}`));
    list.replaceChildren(...options);
    list.value = String(chosen.trip);
    list.disabled = matches.length === 0;
    back.disabled = place <= 0;
    next.disabled = place < 0 || place >= matches.length - 1;
    const near = matches.length > LISTED ? ` The list holds ${LISTED} around the one chosen.` : "";
    count.textContent = matches.length ? `${plural(matches.length, word)} found.${near}` : `No ${word} found: take another kind or another word.`;
  }

  function move(by) {
    const place = matches.indexOf(chosen.trip) + by;
    if (place >= 0 && place < matches.length) choose("trip", matches[place]);
  }

  kind.addEventListener("change", find);
  search.addEventListener("input", find);
  list.addEventListener("change", () => choose("trip", Number(list.value)));
  whenChanged(["level"], find);
  whenChanged(["trip"], show);
  holder.append(
    make(
      "div",
      { class: "picker" },
      make("div", {}, make("label", { for: "pick-kind" }, `Kind of ${word}`), kind),
      make("div", {}, make("label", { for: "pick-search" }, "Search"), search),
      make("div", {}, make("label", { for: "pick-one" }, `The ${word} shown`), list),
      make("div", { class: "steps" }, back, next),
    ),
    count,
  );
  find();
}

// Of the one shown: name, context, angle, and whether the cap of this level covers it.
function pickedWords() {
  const { ids, contexts, angles } = report.sample;
  const angle = angles[chosen.trip];
  const one = currentLevel();
  const covered = angle <= one.angle ? `covered at level ${one.level}` : `not covered at level ${one.level}`;
  const words = angle >= Math.PI ? "explained by no parameters near the estimate" : `angle ${degrees(angle)}`;
  return make("div", {}, make("h3", {}, `${ids[chosen.trip]}: ${contexts[chosen.trip]}`), make("p", { class: "note" }, `${words}; ${covered}`));
}
