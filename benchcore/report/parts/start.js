// The list first, so that it can be used while the map is still being made.
function painted() {
  return new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
}

async function start() {
  startTheme();
  await painted();
  if (typeof DecompressionStream === "undefined") throw new Error("this browser cannot unpack the page's data");
  const data = await readData();
  const picks = startPicks(data);
  if (!byId("block-points")) return;
  const points = await readPoints(data.n);
  const texts = await readTexts(points);
  const library = element("script", new TextDecoder().decode(await opened("plotly")));
  await painted();
  document.head.append(library);
  if (typeof Plotly === "undefined") throw new Error("the plotting library was not allowed to run");
  await startMap(data, points, texts, picks);
}

start().catch((error) => {
  const state = byId("map-state") || byId("map");
  if (state) state.textContent = "The map cannot be shown: " + error.message + ".";
  throw error;
});
