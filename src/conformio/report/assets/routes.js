// Routes as nodes, and where two of them part and meet again.
const ROUTES = [
  { kind: "observed", name: "Observed", dash: [] },
  { kind: "classic", name: "Classic", dash: [9, 5] },
  { kind: "robust", name: "Robust", dash: [] },
  { kind: "baseline", name: "Baseline", dash: [2, 4] },
];

const nodeName = (node) => (report.network.names === null ? String(node) : report.network.names[node]);

function nodesOf(edges) {
  const { tails, heads } = report.network;
  return edges.length ? [tails[edges[0]], ...Array.from(edges, (edge) => heads[edge])] : [];
}

function costOf(edges) {
  let sum = 0;
  for (const edge of edges) sum += report.network.costs[edge];
  return sum;
}

function shareOfCommon(edges, others) {
  const known = new Set(others);
  let shared = 0;
  for (const edge of edges) if (known.has(edge)) shared += 1;
  const union = edges.length + others.length - shared;
  return union ? shared / union : 1;
}

// Stretches on which two routes with equal ends differ: the node before it, and the node after it.
function partings(edges, others) {
  const known = new Set(others);
  const onOther = new Set(nodesOf(others));
  const nodes = nodesOf(edges);
  const found = [];
  let from = null;
  for (let k = 0; k < edges.length; k += 1) {
    const own = !known.has(edges[k]);
    if (own && from === null) from = nodes[k];
    const meets = onOther.has(nodes[k + 1]);
    if (own && meets) {
      found.push({ from, to: nodes[k + 1] });
      from = null;
    }
  }
  return found;
}

function partingWords(edges, others) {
  const places = partings(edges, others);
  if (!places.length) return null;
  const listed = places.slice(0, 4).map(({ from, to }) => `at ${nodeName(from)} and meet again at ${nodeName(to)}`);
  const more = places.length > 4 ? `, and ${places.length - 4} times more` : "";
  return `${listed.join("; then ")}${more}.`;
}

// The nodes of a route, those it does not share with `others` marked.
function routeText(edges, others) {
  const known = new Set(others);
  const nodes = nodesOf(edges);
  const parts = nodes.map((node, k) => {
    const own = (k > 0 && !known.has(edges[k - 1])) || (k < edges.length && !known.has(edges[k]));
    const text = nodeName(node);
    return own && others.length ? make("strong", { class: "part" }, text) : text;
  });
  return make("p", { class: "steps-text" }, ...parts.flatMap((part, k) => (k ? [" → ", part] : [part])));
}
