// Light and dark: the system's choice until the reader makes another.
const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  const own = document.documentElement.dataset.theme;
  return own ? own === "dark" : prefersDark.matches;
}

function startTheme() {
  const button = at("theme");
  const show = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours");
    announce("theme");
  };
  button.removeAttribute("aria-pressed");
  button.hidden = false;
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    show();
  });
  prefersDark.addEventListener("change", show);
  show();
}

// A colour of the style sheet as the canvas understands it.
function colour(name) {
  const probe = make("span", { hidden: true });
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}
