// The blocks of the page, opened: picks and names, and the columns of the points.
async function opened(name) {
  const block = byId("block-" + name);
  const raw = atob(block.textContent);
  block.remove(); // its memory is better used
  const bytes = new Uint8Array(raw.length);
  for (let at = 0; at < raw.length; at++) bytes[at] = raw.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

async function readData() {
  return JSON.parse(new TextDecoder().decode(await opened("data")));
}

// As packing.py writes them.
async function readPoints(n) {
  const buffer = await opened("points");
  let at = 0;
  const next = (type) => {
    const column = new type(buffer, at, n);
    at += column.byteLength;
    return column;
  };
  const points = {
    n,
    nearest: next(Uint32Array),
    x: next(Int16Array),
    y: next(Int16Array),
    benchmark: next(Uint16Array),
    copies: next(Uint16Array),
    length: next(Uint16Array),
    coverage: next(Uint8Array),
    ids: new Uint8Array(buffer, at),
  };
  points.width = points.ids.length / n;
  return points;
}

async function readTexts(points) {
  const bytes = new Uint8Array(await opened("texts"));
  const starts = new Uint32Array(points.n + 1);
  for (let i = 0; i < points.n; i++) starts[i + 1] = starts[i] + points.length[i];
  const decoder = new TextDecoder();
  const text = (point) => decoder.decode(bytes.subarray(starts[point], starts[point + 1]));
  let lowered = null;
  return {
    text,
    lower(point) {
      lowered ??= Array.from({ length: points.n }, (_, each) => text(each).toLowerCase());
      return lowered[point];
    },
  };
}

function idOf(points, point) {
  const bytes = points.ids.subarray(point * points.width, (point + 1) * points.width);
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// An element with text in it: text of prompts reaches the page in no other way.
function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}
