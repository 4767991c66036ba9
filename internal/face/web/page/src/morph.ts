// Changes a part of the page into another one, and keeps what somebody is doing
// in it: the focus, what is typed, what is unfolded, what is scrolled.

// What only the page itself knows of an element, and the server does not.
const own = new Set(["open", "data-touched"]);

function same(a: Node, b: Node): boolean {
  if (a.nodeType !== b.nodeType || a.nodeName !== b.nodeName) return false;
  return !(a instanceof Element && b instanceof Element) || a.id === b.id;
}

// What a person folds or unfolds stays as it is. A browser reports that a moment
// later, and that moment is bridged by the focus, which is in it. A file folds when
// somebody at one of its lines says that they have seen it.
function touched(e: Element): boolean {
  if (!(e instanceof HTMLDetailsElement)) return false;
  return e.dataset.touched === "yes" || (e.dataset.file === undefined && e.contains(document.activeElement));
}

function attributes(from: Element, to: Element): void {
  const kept = touched(from);
  for (const { name, value } of [...to.attributes]) {
    if (kept && own.has(name)) continue;
    if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
  for (const { name } of [...from.attributes]) {
    if (to.hasAttribute(name) || name === "data-touched" || (kept && own.has(name))) continue;
    from.removeAttribute(name);
  }
}

// What the person writes is about the page as it was when they chose the place.
function held(e: Element): boolean {
  if (!(e instanceof HTMLInputElement) || !e.hasAttribute("data-held")) return false;
  return [...(e.form?.elements ?? [])].some((f) => f instanceof HTMLInputElement && f.type === "text" && f.value !== "");
}

// What was sent is not lost when its form goes away.
const sent = new WeakSet<EventTarget>();
document.addEventListener("submit", (e) => e.target && sent.add(e.target), true);
document.addEventListener("input", (e) => {
  const form = (e.target as HTMLInputElement).form;
  if (form) sent.delete(form);
}, true);

// What the page says on its own stays until the next page, as the server knows
// nothing of it.
const ownPart = (n: Node | null) => n instanceof Element && n.hasAttribute("data-own");
function past(n: ChildNode | null): ChildNode | null {
  while (n && ownPart(n)) n = n.nextSibling;
  return n;
}

// swap changes a part of the page into another one. Rows are found again wherever
// they went, and who was at one that is no longer there is at the one in its place.
// It returns what somebody wrote and did not send where that cannot be written any more.
export function swap(from: Element, to: Element): string[] {
  const texts = [...from.querySelectorAll("textarea")].filter((t) => t.value.trim() !== "" && t.value !== t.defaultValue && !(t.form && sent.has(t.form)));
  change(from, to);
  return texts.filter((t) => !t.isConnected).map((t) => t.value);
}

function change(from: Element, to: Element): void {
  const was = document.activeElement instanceof HTMLElement && from.contains(document.activeElement) ? document.activeElement : null;
  const mine = was?.closest<HTMLElement>("[data-row]");
  const place = mine ? [...from.querySelectorAll("[data-row]")].indexOf(mine) : -1;
  const placed = new Map<string, Element>();
  for (const row of from.querySelectorAll("[data-row][id]")) placed.set(row.id, row);
  morph(from, to, placed);
  if (!was || document.activeElement === was) return;
  const left = [...from.querySelectorAll<HTMLElement>("[data-row]")].filter((r) => r.checkVisibility());
  const there = was.isConnected ? was : mine?.isConnected ? mine : place < 0 ? undefined : left[Math.min(place, left.length - 1)];
  there?.focus({ preventScroll: true });
}

function morph(from: Element, to: Element, placed: Map<string, Element>): void {
  if (held(from)) return;
  attributes(from, to);
  if (from instanceof HTMLTextAreaElement || from instanceof HTMLInputElement || from instanceof HTMLSelectElement) return;
  const known = new Map<string, Element>();
  const stays = new Set([...to.children].map((c) => c.id));
  for (const c of [...from.children]) {
    if (!c.id) continue;
    if (stays.has(c.id)) known.set(c.id, c);
    else if (!ownPart(c)) c.remove(); // first, as what is moved past it would lose the focus
  }
  let at = past(from.firstChild);
  for (const next of [...to.childNodes]) {
    let match: ChildNode | null = null;
    if (next instanceof Element && next.id) {
      match = known.get(next.id) ?? (next.hasAttribute("data-row") ? placed.get(next.id) : null) ?? null;
      if (match && match.nodeName !== next.nodeName) match = null;
    } else if (at && same(at, next)) {
      match = at;
    }
    if (!match) {
      from.insertBefore(next, at);
      continue;
    }
    if (match === at) at = past(at.nextSibling);
    else from.insertBefore(match, at);
    if (match instanceof Element && next instanceof Element) {
      if (!match.isEqualNode(next)) {
        const row = match.hasAttribute("data-row");
        morph(match, next, placed);
        if (row) flash(match);
      }
    } else if (match.nodeValue !== next.nodeValue) {
      match.nodeValue = next.nodeValue;
    }
  }
  while (at) {
    const gone = at;
    at = past(at.nextSibling);
    gone.remove();
  }
}

function flash(e: Element): void {
  e.classList.add("changed");
  setTimeout(() => e.classList.remove("changed"), 1300);
}
