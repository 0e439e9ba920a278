// The map: all prompts as points in a few colours, picks as diamonds, one territory at a time brought forward.
const vivid = ["#d55e00", "#e69f00", "#b3a078", "#56b4e9", "#0072b2"]; // told apart by the colour-blind, on dark and light
const many = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#9900e6"];
const rest = "#8a8f96";
const withoutWebGL = 4000; // points that a browser draws without a graphics interface

function startMap(data, points, texts, picks) {
  const view = byId("map");
  let webgl = hasWebGL();
  const state = { chosen: -1, rank: -1, walk: [], drawn: [], ready: false };
  const schemes = { coverage: byCoverage(points), category: byCategory(data, points), territory: byTerritory(points) };
  view.replaceChildren();

  function scheme() {
    return schemes[byId("colour").value];
  }

  function matching() {
    const { words, category, benchmark } = picks.filter;
    if (!words.length && category < 0 && benchmark < 0) return null;
    return (point) =>
      (benchmark < 0 || points.benchmark[point] === benchmark) &&
      (category < 0 || data.categoryOf[points.benchmark[point]] === category) &&
      words.every((word) => texts.lower(point).includes(word));
  }

  function traces() {
    const { code, colours } = scheme();
    const matches = matching();
    const groups = colours.map(() => []);
    const pale = [];
    const territory = [];
    const stride = webgl ? 1 : Math.max(1, Math.ceil(points.n / withoutWebGL));
    for (let point = 0; point < points.n; point += stride) {
      if (state.rank >= 0 && points.nearest[point] === state.rank) territory.push(point);
      else if (matches && !matches(point)) pale.push(point);
      else groups[code[point]].push(point);
    }
    const faded = state.rank >= 0;
    const parts = [{ rows: pale, colour: rest, size: 2, opacity: 0.12 }];
    groups.forEach((rows, group) =>
      parts.push({ rows, colour: colours[group], size: pointSize(), opacity: faded ? 0.25 : 0.75 }),
    );
    parts.push({ rows: territory, colour: colourOf("ink"), size: pointSize() + 1, opacity: 0.9 });
    const visible = data.picks.flatMap((pick, rank) => (picks.shown[rank] && rank !== state.rank ? [pick.point] : []));
    const diamond = { edge: colourOf("ink"), symbol: "diamond", opacity: 1 };
    parts.push({ ...diamond, rows: visible, colour: colourOf("page"), size: data.picks.length > 300 ? 5 : 7 });
    const own = [];
    if (state.rank >= 0) own.push(data.picks[state.rank].point);
    parts.push({ ...diamond, rows: own, colour: colourOf("focus"), size: 15 });
    const only = state.chosen >= 0 ? [state.chosen] : [];
    parts.push({ rows: only, colour: colourOf("focus"), symbol: "circle-open", size: 16, opacity: 1 });
    state.drawn = parts.map((part) => part.rows);
    return parts.map(traceOf);
  }

  function pointSize() {
    return points.n > 30000 ? 2.5 : points.n > 3000 ? 4 : 6;
  }

  function traceOf(part) {
    const marker = { color: part.colour, size: part.size, opacity: part.opacity, symbol: part.symbol || "circle" };
    if (part.edge) marker.line = { color: part.edge, width: 1.5 };
    else if (part.symbol) marker.line = { color: part.colour, width: 2.5 };
    return {
      type: webgl ? "scattergl" : "scatter",
      mode: "markers",
      x: Float32Array.from(part.rows, (point) => points.x[point]),
      y: Float32Array.from(part.rows, (point) => points.y[point]),
      marker,
      hoverinfo: "none",
      showlegend: false,
    };
  }

  const axis = { visible: false, zeroline: false, showgrid: false };
  const layout = () => ({
    autosize: true,
    margin: { l: 0, r: 0, t: 0, b: 0 },
    paper_bgcolor: colourOf("page"),
    plot_bgcolor: colourOf("page"),
    dragmode: "pan",
    hovermode: "closest",
    hoverdistance: 12,
    uirevision: "kept",
    xaxis: { ...axis, range: [-33500, 33500] },
    yaxis: { ...axis, range: [-33500, 33500], scaleanchor: "x" },
  });
  const config = {
    responsive: true,
    displaylogo: false,
    displayModeBar: false,
    scrollZoom: false,
    doubleClick: "reset",
  };

  async function draw() {
    await Plotly.react(view, traces(), layout(), config);
    view.dataset.points = String(state.drawn.slice(1, -3).reduce((sum, rows) => sum + rows.length, 0));
    view.dataset.rank = String(state.rank);
    drawLegend();
  }

  function drawLegend() {
    const { colours, names } = scheme();
    const lines = names.map((name, group) => [colours[group], name]);
    if (state.rank >= 0) lines.push([colourOf("ink"), `territory of pick ${state.rank}`]);
    byId("legend").replaceChildren(
      ...lines.map(([colour, name]) => {
        const line = element("li");
        const swatch = element("span", undefined, "swatch");
        swatch.style.background = colour;
        line.append(swatch, name);
        return line;
      }),
    );
  }

  function choose(point) {
    state.chosen = point;
    select(point < 0 ? -1 : points.nearest[point], point);
  }

  function choosePick(rank) {
    state.chosen = -1;
    select(rank, rank < 0 ? -1 : data.picks[rank].point);
  }

  function select(rank, point) {
    if (rank !== state.rank) state.walk = rank < 0 ? [] : territoryOf(points, rank);
    state.rank = rank;
    picks.mark(rank);
    tell(point, rank);
    draw();
  }

  function tell(point, rank) {
    const [told, around] = [byId("told-prompt"), byId("told-territory")];
    if (point < 0) {
      told.replaceChildren(element("p", "Nothing is chosen.", "soft"));
      around.replaceChildren();
      return;
    }
    const pick = data.picks[rank];
    const isPick = pick.point === point;
    const lines = [
      element("p", isPick ? `Pick ${rank}` : `A prompt of the territory of pick ${rank}`),
      element("p", facts(data, points, point), "soft origin"),
      element("p", texts.text(point), "text"),
      element("p", "prompt " + idOf(points, point), "id soft"),
    ];
    const go = element("button", isPick ? "To the list" : `To pick ${rank} in the list`);
    go.type = "button";
    go.addEventListener("click", () => picks.reveal(rank));
    const near = element("ul");
    for (const other of state.walk.slice(0, 12)) near.append(element("li", texts.text(other), "text"));
    const heading = `It stands for ${pick.represents.toLocaleString("en")} prompts; the nearest:`;
    told.replaceChildren(...lines);
    around.replaceChildren(go, element("p", heading, "soft"), near);
    byId("told").scrollTop = 0;
  }

  function step(by) {
    const ranks = data.picks.map((_, rank) => rank).filter((rank) => picks.shown[rank]);
    if (!ranks.length) return;
    const at = ranks.indexOf(state.rank);
    const next = at < 0 ? (by > 0 ? 0 : ranks.length - 1) : (at + by + ranks.length) % ranks.length;
    choosePick(ranks[next]);
  }

  function walk(by) {
    if (!state.walk.length) return;
    const at = state.walk.indexOf(state.chosen);
    const next = Math.min(Math.max(at + by, 0), state.walk.length - 1);
    choose(state.walk[next]);
  }

  function zoom(factor) {
    const { xaxis, yaxis } = view._fullLayout;
    const centre = state.rank >= 0 ? data.picks[state.rank].point : -1;
    const around = (range, at) => {
      const half = ((range[1] - range[0]) / 2) * factor;
      const middle = centre >= 0 && factor < 1 ? at : (range[0] + range[1]) / 2;
      return [middle - half, middle + half];
    };
    Plotly.relayout(view, {
      "xaxis.range": around(xaxis.range, points.x[centre]),
      "yaxis.range": around(yaxis.range, points.y[centre]),
    });
  }

  function whole() {
    Plotly.relayout(view, { "xaxis.range": [-33500, 33500], "yaxis.range": [-33500, 33500] });
  }

  const keys = {
    ArrowRight: () => step(1),
    ArrowLeft: () => step(-1),
    ArrowDown: () => walk(1),
    ArrowUp: () => walk(-1),
    "+": () => zoom(0.6),
    "=": () => zoom(0.6),
    "-": () => zoom(1 / 0.6),
    0: whole,
    Enter: () => state.rank >= 0 && picks.reveal(state.rank),
    Escape: () => choosePick(-1),
  };

  function pointAt(event) {
    const { curveNumber, pointNumber } = event.points[0];
    return state.drawn[curveNumber][pointNumber];
  }

  async function start() {
    await draw();
    if (webgl && view.querySelector(".no-webgl")) {
      webgl = false; // the browser has it, and the library cannot use it
      Plotly.purge(view);
      await draw();
    }
    view.on("plotly_hover", (event) => {
      const point = pointAt(event);
      byId("hover").textContent = facts(data, points, point) + "\n" + texts.text(point);
    });
    view.on("plotly_unhover", () => (byId("hover").textContent = ""));
    view.on("plotly_click", (event) => choose(pointAt(event)));
    view.addEventListener("keydown", (event) => {
      const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    });
    byId("colour").addEventListener("change", draw);
    byId("nearer").addEventListener("click", () => zoom(0.6));
    byId("farther").addEventListener("click", () => zoom(1 / 0.6));
    byId("whole").addEventListener("click", whole);
    picks.onFilter(draw);
    themeListeners.push(draw);
    for (const button of document.querySelectorAll(".show-region")) {
      button.hidden = false;
      button.addEventListener("click", () => show(() => choose(data.regions[button.dataset.region])));
    }
    picks.items.forEach((item, rank) => {
      const button = element("button", "On the map");
      button.type = "button";
      button.addEventListener("click", () => show(() => choosePick(rank)));
      item.append(button);
    });
    byId("map-tools").hidden = false;
    if (!webgl) byId("no-webgl").hidden = false;
    view.dataset.ready = "yes";
  }

  function show(act) {
    act();
    view.scrollIntoView({ block: "center" });
    view.focus({ preventScroll: true });
  }

  return start();
}

function facts(data, points, point) {
  const benchmark = points.benchmark[point];
  const parts = [
    data.benchmarks[benchmark],
    data.categories[data.categoryOf[benchmark]],
    "covered " + (points.coverage[point] / 255).toFixed(2),
  ];
  if (points.copies[point] > 1) parts.push(`${points.copies[point]} copies`);
  return parts.join(" · ");
}

function territoryOf(points, rank) {
  const rows = [];
  for (let point = 0; point < points.n; point++) if (points.nearest[point] === rank) rows.push(point);
  return rows.sort((a, b) => points.coverage[b] - points.coverage[a] || a - b);
}

function byCoverage(points) {
  const names = ["below 0.2", "0.2 to 0.4", "0.4 to 0.6", "0.6 to 0.8", "0.8 and more"];
  return { code: points.coverage.map((value) => Math.min(4, Math.floor(value / 51))), colours: vivid, names };
}

function byCategory(data, points) {
  const counts = data.categories.map(() => 0);
  for (const benchmark of points.benchmark) counts[data.categoryOf[benchmark]]++;
  const largest = counts.map((_, category) => category).sort((a, b) => counts[b] - counts[a] || a - b);
  const shown = largest.slice(0, many.length);
  const group = data.categories.map((_, category) => (shown.includes(category) ? shown.indexOf(category) : shown.length));
  const names = shown.map((category) => data.categories[category]);
  const colours = many.slice(0, shown.length);
  if (largest.length > shown.length) {
    names.push(`${largest.length - shown.length} other categories`);
    colours.push(rest);
  }
  return { code: points.benchmark.map((benchmark) => group[data.categoryOf[benchmark]]), colours, names };
}

function byTerritory(points) {
  const names = ["seven colours by turns: neighbours mostly differ"];
  return { code: points.nearest.map((rank) => rank % many.length), colours: many, names };
}

function hasWebGL() {
  const canvas = element("canvas");
  return Boolean(canvas.getContext("webgl") || canvas.getContext("experimental-webgl"));
}
