// Moving and zooming the map: mouse, wheel, touch and keys.
const STEP = 1.35;

function zoomBy(map, factor, x = map.canvas.clientWidth / 2, y = map.canvas.clientHeight / 2) {
  const { view, canvas, shape } = map;
  const scale = Math.min(Math.max(view.scale * factor, 40), 400 / shape.typical);
  const [dx, dy] = [x - canvas.clientWidth / 2, y - canvas.clientHeight / 2];
  view.x += dx / view.scale - dx / scale;
  view.y -= dy / view.scale - dy / scale;
  view.scale = scale;
  map.soon();
}

function moveBy(map, x, y) {
  map.view.x -= x / map.view.scale;
  map.view.y += y / map.view.scale;
  map.soon();
}

function startMoves(map, whole) {
  const { canvas } = map;
  const held = new Map();
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    held.set(event.pointerId, [event.offsetX, event.offsetY]);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!held.has(event.pointerId)) return;
    const before = [...held.values()];
    const [x, y] = held.get(event.pointerId);
    held.set(event.pointerId, [event.offsetX, event.offsetY]);
    moveBy(map, (event.offsetX - x) / held.size, (event.offsetY - y) / held.size);
    if (held.size === 2) {
      const after = [...held.values()];
      const apart = (pair) => Math.hypot(pair[0][0] - pair[1][0], pair[0][1] - pair[1][1]);
      zoomBy(map, apart(after) / (apart(before) || 1), (after[0][0] + after[1][0]) / 2, (after[0][1] + after[1][1]) / 2);
    }
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => held.delete(event.pointerId));
  canvas.addEventListener(
    "wheel",
    (event) => {
      if (document.activeElement !== canvas && !event.ctrlKey) return; // else the page could not be scrolled past the map
      event.preventDefault();
      zoomBy(map, Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
    },
    { passive: false },
  );
  const keys = {
    ArrowLeft: () => moveBy(map, 60, 0),
    ArrowRight: () => moveBy(map, -60, 0),
    ArrowUp: () => moveBy(map, 0, 60),
    ArrowDown: () => moveBy(map, 0, -60),
    "+": () => zoomBy(map, STEP),
    "=": () => zoomBy(map, STEP),
    "-": () => zoomBy(map, 1 / STEP),
    0: whole,
  };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });
}
