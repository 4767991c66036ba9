// What the pages do beyond links and forms: live changes, keys, drag and drop,
// the theme. Everything works without it, with more clicks.
import { swap } from "./morph";
import { pressed } from "./review";

declare const htmx: {
  createEventSource: (url: string) => EventSource;
  defineExtension(name: string, what: object): void;
  process(e: Element): void;
  trigger(e: Element, name: string): void;
};

const $ = <T extends Element>(selector: string, within: ParentNode = document) => within.querySelector<T>(selector);
const all = <T extends Element>(selector: string, within: ParentNode = document) => [...within.querySelectorAll<T>(selector)];

htmx.defineExtension("morph", {
  isInlineSwap: (style: string) => style === "morph",
  handleSwap(style: string, target: Element, fragment: Element | DocumentFragment) {
    if (style !== "morph") return false;
    const to = fragment instanceof DocumentFragment ? fragment.firstElementChild : fragment;
    if (!to) return false;
    const meant = row() ?? rows()[0];
    const lost = swap(target, to);
    gone = gone || (meant !== undefined && !meant.isConnected && !(meant.id && document.getElementById(meant.id)));
    if (lost.length > 0) explain(`This can no longer be sent, as what it was for is over. You wrote:\n${lost.join("\n")}`);
    dress(target);
    count();
    return [target];
  },
});

// Live changes. A screen that somebody reads is not announced more often than
// every ten seconds.
let told = 0;
let later = 0;
function announce(text: string): void {
  clearTimeout(later);
  const wait = Math.max(0, told + 10_000 - Date.now());
  later = window.setTimeout(() => {
    told = Date.now();
    say(text);
  }, wait);
}
function say(text: string): void {
  const live = $("#live");
  if (live) live.textContent = text;
}
let waiting = document.title;
function count(): void {
  const n = $(".side .count")?.textContent ?? "0";
  if (n !== waiting) announce(n === "0" ? "nothing waits for you" : `${n} waiting for you`);
  waiting = n;
}

// A network that loses everything says nothing. The server is heard of at least every
// 15 seconds: a connection that is silent for three times as long is made anew, also
// when a machine wakes up.
const silent = 45_000;
htmx.createEventSource = (url) => {
  const source = new EventSource(url);
  let heard = Date.now();
  for (const sign of ["open", "changed"]) source.addEventListener(sign, () => (heard = Date.now()));
  const watch = setInterval(() => {
    const over = source.readyState !== EventSource.CLOSED && Date.now() - heard > silent;
    if (over) source.close();
    if (source.readyState === EventSource.CLOSED) clearInterval(watch);
    if (over) source.dispatchEvent(new Event("error")); // as when it is refused: another one is made
  }, 5_000);
  return source;
};
// What a page asks for by itself does not wait longer than that either.
document.addEventListener("htmx:beforeSend", (e) => {
  const { xhr, requestConfig } = (e as CustomEvent<{ xhr: XMLHttpRequest; requestConfig: { verb: string } }>).detail;
  if (requestConfig.verb === "get") xhr.timeout = silent;
});

const link = $("#link");
document.addEventListener("htmx:sseOpen", () => link && (link.textContent = "live"));
document.addEventListener("htmx:sseError", () => link && (link.textContent = "not connected, trying again"));
document.addEventListener("htmx:afterRequest", (e) => {
  const failed = (e as CustomEvent<{ failed?: boolean }>).detail.failed;
  if (link && failed) link.textContent = "out of date, trying again";
});
// A browser also tells of a toggle when a part comes unfolded, so a click tells what
// a person folds; keys click, too.
document.addEventListener("click", (e) => {
  const part = (e.target as Element).closest("summary")?.parentElement;
  if (part instanceof HTMLDetailsElement) part.dataset.touched = "yes";
}, true);

// The theme.
const themes = ["auto", "light", "dark"];
const theme = $<HTMLButtonElement>("#theme");
function themeNow(): string {
  return document.documentElement.dataset.theme ?? "auto";
}
if (theme) {
  theme.hidden = false;
  theme.textContent = `Theme: ${themeNow()}`;
  theme.addEventListener("click", () => {
    const next = themes[(themes.indexOf(themeNow()) + 1) % themes.length]!;
    if (next === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    try {
      localStorage.setItem("nexus-theme", next);
    } catch {
      // It holds for this page only.
    }
    theme.textContent = `Theme: ${next}`;
  });
}

// Keys. A letter does what a button of the selected row says, or else one of
// the page.
const keys = $<HTMLDialogElement>("#keys");
const help = $<HTMLButtonElement>("#help");
if (help && keys) {
  help.hidden = false;
  help.addEventListener("click", () => keys.showModal());
}
function rows(): HTMLElement[] {
  return all<HTMLElement>("main [data-row]").filter((r) => r.checkVisibility());
}
function row(): HTMLElement | null {
  return document.activeElement?.closest<HTMLElement>("[data-row]") ?? null;
}
// What a key would have acted on is no longer there, and another one may have
// taken its place just before the key was pressed.
let gone = false;
document.addEventListener("focusin", () => (gone = false));
function move(by: number): void {
  gone = false;
  const list = rows();
  if (list.length === 0) return;
  const here = row();
  const at = here ? list.indexOf(here) + by : by > 0 ? 0 : list.length - 1;
  list[Math.min(Math.max(at, 0), list.length - 1)]!.focus();
}
function open(details: Element | null): void {
  for (let d = details?.closest("details"); d; d = d.parentElement?.closest("details")) {
    d.open = true;
    d.dataset.touched = "yes";
  }
}
function press(key: string): boolean {
  const within: ParentNode[] = [row(), $("main > .actions"), $("main .run"), rows().find((r) => !r.matches(".note")) ?? null].filter((x) => x !== null);
  for (const w of within) {
    const button = all<HTMLElement>("[data-key]", w).find((b) => b.dataset.key === key);
    if (!button) continue;
    if (gone && w instanceof Element && w.matches("[data-row]")) {
      gone = false;
      explain("What you looked at is no longer here, so nothing was done. Look at what took its place, and press the key again.");
      return true;
    }
    if (button instanceof HTMLButtonElement) {
      button.click();
    } else {
      open(button);
      button.closest("details")?.querySelector<HTMLElement>("textarea, form button")?.focus();
    }
    return true;
  }
  return false;
}
document.addEventListener("keydown", (e) => {
  const on = e.target as HTMLElement;
  if (on.matches("textarea, input, select") || keys?.open) {
    if (e.key === "Escape") on.blur();
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey) && on.matches("textarea")) on.closest("form")?.requestSubmit();
    return;
  }
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (walk(on, e.key) || act(e.key)) e.preventDefault();
});
function act(key: string): boolean {
  if (pressed(key, explain)) return true;
  switch (key) {
    case "j": move(1); return true;
    case "k": move(-1); return true;
    case "?": keys?.showModal(); return true;
    case "Enter": {
      const here = document.activeElement;
      if (!here?.matches("[data-row]")) return false;
      const to = $<HTMLAnchorElement>("[data-open]", here);
      to?.click();
      return to !== null;
    }
  }
  const focus = all<HTMLElement>("[data-focus]").find((f) => f.dataset.focus === key);
  if (focus) { focus.focus(); return true; }
  if (press(key)) return true;
  const nav = all<HTMLElement>("[data-nav]").find((n) => n.dataset.nav === key);
  nav?.click();
  return nav !== undefined;
}

// The arrows walk the graph: to the nearest task in that direction.
function walk(on: HTMLElement, key: string): boolean {
  const by: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const way = by[key];
  if (!way || !on.matches("[data-box]")) return false;
  const x = Number(on.dataset.x), y = Number(on.dataset.y);
  let best: HTMLElement | undefined, least = Infinity;
  for (const b of all<HTMLElement>("[data-box]")) {
    const dx = Number(b.dataset.x) - x, dy = Number(b.dataset.y) - y;
    if (way[0] !== 0 ? dx * way[0] <= 0 : dx !== 0 || dy * way[1] <= 0) continue;
    const far = Math.abs(dx) * 100 + Math.abs(dy);
    if (far < least) { least = far; best = b; }
  }
  best?.focus();
  return true;
}

// The small map of a graph says which part of it is seen, and leads to others. It goes
// where all is seen.
function chart(): void {
  const map = $<SVGSVGElement>("#map"), picture = $<HTMLElement>("#picture");
  if (!map || !picture) return;
  map.toggleAttribute("hidden", picture.scrollWidth <= picture.clientWidth && picture.scrollHeight <= picture.clientHeight);
  const seen = $(".seen", map)!, all = map.viewBox.baseVal;
  const share = { x: all.width / picture.scrollWidth, y: all.height / picture.scrollHeight };
  const part = { x: picture.scrollLeft * share.x, y: picture.scrollTop * share.y, width: picture.clientWidth * share.x, height: picture.clientHeight * share.y };
  for (const [name, value] of Object.entries(part)) seen.setAttribute(name, String(Math.round(value)));
}
document.addEventListener("scroll", (e) => (e.target as Element).id === "picture" && chart(), { capture: true, passive: true });
addEventListener("resize", chart);
for (const name of ["pointerdown", "pointermove"]) {
  document.addEventListener(name, (e) => {
    const map = (e.target as Element).closest?.<SVGSVGElement>("#map"), picture = $<HTMLElement>("#picture");
    const { buttons, clientX, clientY } = e as PointerEvent;
    if (!map || !picture || buttons !== 1) return;
    const all = map.viewBox.baseVal, to = new DOMPoint(clientX, clientY).matrixTransform(map.getScreenCTM()!.inverse());
    picture.scrollTo(
      (to.x / all.width) * picture.scrollWidth - picture.clientWidth / 2,
      (to.y / all.height) * picture.scrollHeight - picture.clientHeight / 2,
    );
  });
}
for (const name of ["click", "dragstart"]) document.addEventListener(name, (e) => (e.target as Element).closest?.("#map") && e.preventDefault());

// Drag and drop does what the menu of a card does, or says why it cannot.
let dragged: HTMLElement | null = null;
document.addEventListener("dragstart", (e) => {
  dragged = (e.target as Element).closest<HTMLElement>("[data-drops]");
});
document.addEventListener("dragover", (e) => {
  const lane = (e.target as Element).closest(".lane[data-lane]");
  for (const l of all(".lane.over")) l.classList.toggle("over", l === lane);
  if (!dragged || !lane) return;
  lane.classList.add("over");
  e.preventDefault();
});
document.addEventListener("drop", (e) => {
  const lane = (e.target as Element).closest<HTMLElement>(".lane[data-lane]");
  for (const l of all(".lane.over")) l.classList.remove("over");
  if (!dragged || !lane) return;
  e.preventDefault();
  drop(dragged, lane.dataset.lane!);
  dragged = null;
});
function drop(card: HTMLElement, lane: string): void {
  if (card.closest<HTMLElement>("[data-lane]")?.dataset.lane === lane) return;
  const drops = JSON.parse(card.dataset.drops ?? "{}") as Record<string, { do?: string; why?: string }>;
  const to = drops[lane];
  const todo = to?.do ? $<HTMLElement>(`[data-do="${CSS.escape(to.do)}"]`, card) : null;
  if (!todo) {
    explain(to?.why ?? `${card.dataset.task} cannot be moved there.`);
    return;
  }
  if (todo instanceof HTMLFormElement) {
    todo.requestSubmit();
    return;
  }
  open(todo);
  todo.querySelector<HTMLElement>("textarea, form button")?.focus();
}
function explain(text: string): void {
  let p = $("#said");
  if (!p) {
    p = document.createElement("p");
    p.id = "said";
    p.setAttribute("role", "status");
    $("#main")?.prepend(p);
  }
  p.dataset.own = "yes"; // it stays until the next page
  p.className = "said bad";
  p.textContent = text;
  p.scrollIntoView({ block: "nearest" });
}

// Forms that show something else as soon as they change, and values to copy.
const dressed = new WeakSet<Element>();
function dress(within: ParentNode): void {
  for (const form of all<HTMLFormElement>("form[data-auto]", within)) {
    const button = $<HTMLButtonElement>("button", form);
    if (button) button.hidden = true;
    if (dressed.has(form)) continue;
    dressed.add(form);
    form.addEventListener("change", () => form.requestSubmit());
  }
  for (const value of all<HTMLElement>("[data-copy]", within)) {
    if (value.nextElementSibling || !navigator.clipboard) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "copy";
    button.setAttribute("aria-label", `Copy the ${value.dataset.copy}`);
    button.addEventListener("click", () => void navigator.clipboard.writeText(value.textContent ?? "").then(() => say("copied")));
    value.after(button);
  }
  for (const text of all<HTMLTextAreaElement>("textarea[data-wrong]", within)) {
    const lines = text.value.split("\n"), n = Number(text.dataset.wrong) - 1;
    const start = lines.slice(0, n).join("\n").length + (n > 0 ? 1 : 0);
    text.focus();
    text.setSelectionRange(start, start + (lines[n]?.length ?? 0));
    text.scrollTop = (text.scrollHeight / lines.length) * Math.max(n - 4, 0);
  }
  chart();
  if (within === document) {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target) target.scrollIntoView({ block: "center" });
  }
}
dress(document);
$(".side [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
waiting = $(".side .count")?.textContent ?? "0";
