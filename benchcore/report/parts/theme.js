// Light, dark, or as the system has it.
const root = document.documentElement;
const themes = { system: "as the system", light: "light", dark: "dark" };
const themeListeners = [];
const darkSystem = matchMedia("(prefers-color-scheme: dark)");

function byId(id) {
  return document.getElementById(id);
}

function startTheme() {
  const button = byId("theme");
  let chosen = "system";
  button.hidden = false;
  button.addEventListener("click", () => {
    const names = Object.keys(themes);
    chosen = names[(names.indexOf(chosen) + 1) % names.length];
    if (chosen === "system") delete root.dataset.theme;
    else root.dataset.theme = chosen;
    button.textContent = "Colours: " + themes[chosen];
    for (const listener of themeListeners) listener();
  });
  darkSystem.addEventListener("change", () => {
    for (const listener of themeListeners) listener();
  });
}

function colourOf(name) {
  return getComputedStyle(root).getPropertyValue("--" + name).trim();
}
