// The list of picks: searched, filtered, put in order, opened up.
function startPicks(data) {
  const list = byId("list");
  const items = Array.from(list.children);
  const inputs = { search: byId("search"), category: byId("category"), benchmark: byId("benchmark"), role: byId("role") };
  const lowered = data.picks.map((pick, rank) =>
    [items[rank].textContent, pick.prompt, pick.answer, ...pick.choices].join("\n").toLowerCase(),
  );
  const listeners = [];
  const shown = new Array(items.length).fill(true);
  const state = { shown, filter: readFilter(), onFilter: (listener) => listeners.push(listener), reveal };

  fill(inputs.category, data.categories);
  fill(inputs.benchmark, data.benchmarks);
  for (const item of items) addWhole(item, data.picks[item.dataset.pick]);

  function readFilter() {
    return {
      words: inputs.search.value.toLowerCase().split(/\s+/).filter(Boolean),
      category: inputs.category.value === "" ? -1 : Number(inputs.category.value),
      benchmark: inputs.benchmark.value === "" ? -1 : Number(inputs.benchmark.value),
      role: inputs.role.value,
    };
  }

  function apply() {
    const filter = readFilter();
    state.filter = filter;
    let count = 0;
    data.picks.forEach((pick, rank) => {
      const text = lowered[rank];
      shown[rank] =
        (filter.category < 0 || data.categoryOf[pick.benchmark] === filter.category) &&
        (filter.benchmark < 0 || pick.benchmark === filter.benchmark) &&
        (filter.role === "" || pick.role === filter.role) &&
        filter.words.every((word) => text.includes(word));
      items[rank].hidden = !shown[rank];
      count += shown[rank];
    });
    byId("matches").textContent = `${count} of ${items.length} picks are shown.`;
    for (const listener of listeners) listener();
  }

  function order() {
    const key = byId("sort").value;
    const ranks = items.map((_, rank) => rank);
    if (key === "benchmark") ranks.sort((a, b) => data.picks[a].benchmark - data.picks[b].benchmark || a - b);
    else if (key !== "rank") ranks.sort((a, b) => data.picks[b][key] - data.picks[a][key] || a - b);
    list.append(...ranks.map((rank) => items[rank]));
  }

  function reveal(rank) {
    const item = items[rank];
    if (item.hidden) clear();
    item.scrollIntoView({ block: "center" });
    item.querySelector("summary").focus({ preventScroll: true });
  }

  function clear() {
    inputs.search.value = inputs.category.value = inputs.benchmark.value = inputs.role.value = "";
    apply();
  }

  let waiting = 0;
  inputs.search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(apply, 120);
  });
  for (const name of ["category", "benchmark", "role"]) inputs[name].addEventListener("change", apply);
  byId("sort").addEventListener("change", order);
  byId("clear").addEventListener("click", clear);
  state.mark = (rank) => items.forEach((item, each) => item.classList.toggle("chosen", each === rank));
  state.items = items;
  byId("tools").hidden = false;
  apply();
  return state;
}

function fill(select, names) {
  names.forEach((name, number) => {
    const option = element("option", name);
    option.value = number;
    select.append(option);
  });
}

// The whole text is put in when it is asked for first.
function addWhole(item, pick) {
  const whole = element("details");
  whole.append(element("summary", "Whole text and answer"));
  whole.addEventListener("toggle", () => {
    if (!whole.open || whole.children.length > 1) return;
    whole.append(element("p", pick.prompt, "text"));
    if (pick.choices.length) whole.append(element("p", pick.choices.map((choice) => "• " + choice).join("\n"), "text"));
    if (pick.answer) whole.append(element("p", "answer: " + pick.answer, "text"));
  });
  item.append(whole);
}
