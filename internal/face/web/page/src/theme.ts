// Sets the theme that somebody chose before anything is drawn.
try {
  const chosen = localStorage.getItem("nexus-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // Without storage the theme is that of the system.
}
