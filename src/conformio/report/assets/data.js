// The page's data: JSON with packed arrays, turned into typed arrays once.
const KINDS = { f4: Float32Array, f8: Float64Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array };

function unpacked(value) {
  if (Array.isArray(value)) return value.map(unpacked);
  if (value === null || typeof value !== "object") return value;
  if (typeof value.t === "string" && typeof value.d === "string") {
    const text = atob(value.d);
    const bytes = new Uint8Array(text.length);
    for (let k = 0; k < text.length; k += 1) bytes[k] = text.charCodeAt(k);
    return new KINDS[value.t](bytes.buffer);
  }
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, unpacked(part)]));
}

const report = unpacked(JSON.parse(document.getElementById("report-data").textContent));

// Entries of one decision: edges in walking order, or variables; decision 0 is none.
function entriesOf(number) {
  const { start, items } = report.decisions;
  return items.subarray(start[number], start[number + 1]);
}

function valuesOf(number) {
  const { start, values } = report.decisions;
  return values === null ? null : values.subarray(start[number], start[number + 1]);
}

// Numbers of the decisions of one trip; `baseline` is 0 where there is none.
function decisionsOf(trip, level) {
  const { observed, classic, robust, baseline } = report.decisions;
  return {
    observed: observed[trip],
    classic: classic[trip],
    robust: robust[level][trip],
    baseline: baseline === null ? 0 : baseline[trip],
  };
}
