// What the reader has chosen, and who wants to know when it changes.
const chosen = { level: report.own, trip: firstTrip() };
// One that shows something: robust differs from classic, or else observed does.
function firstTrip() {
  const all = report.sample.ids.map((_, trip) => decisionsOf(trip, report.own));
  const robust = all.findIndex((one) => one.robust !== one.classic);
  return Math.max(0, robust >= 0 ? robust : all.findIndex((one) => one.observed !== one.classic));
}

const listeners = { level: [], trip: [], theme: [] };

function whenChanged(kinds, listener) {
  for (const kind of kinds) listeners[kind].push(listener);
}

function choose(kind, value) {
  if (chosen[kind] === value) return;
  chosen[kind] = value;
  announce(kind);
}

function announce(kind) {
  for (const listener of listeners[kind]) listener();
}

const currentLevel = () => report.levels[chosen.level];
