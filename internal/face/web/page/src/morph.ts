// Changes a part of the page into another one, and keeps what somebody is doing
// in it: the focus, what is typed, what is unfolded, what is scrolled.

// What only the page itself knows of an element, and the server does not.
const own = new Set(["open", "data-touched"]);

function same(a: Node, b: Node): boolean {
  if (a.nodeType !== b.nodeType || a.nodeName !== b.nodeName) return false;
  return !(a instanceof Element && b instanceof Element) || a.id === b.id;
}

// What a person folds or unfolds stays as it is. A browser reports that a moment
// later, and that moment is bridged by the focus, which is in it.
function touched(e: Element): boolean {
  return e instanceof HTMLDetailsElement && (e.dataset.touched === "yes" || e.contains(document.activeElement));
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

// What somebody wrote in a part that goes away, and did not send.
function written(gone: Node): string[] {
  if (!(gone instanceof Element)) return [];
  return [...gone.querySelectorAll("textarea")].filter((t) => t.value.trim() !== "" && t.value !== t.defaultValue && !(t.form && sent.has(t.form))).map((t) => t.value);
}

// What the page says on its own, and the server knows nothing of.
const ownPart = (n: Node | null) => n instanceof Element && n.hasAttribute("data-own");
function past(n: ChildNode | null): ChildNode | null {
  while (ownPart(n)) n = n!.nextSibling;
  return n;
}

// It returns what somebody wrote where nothing can be written any more.
export function morph(from: Element, to: Element): string[] {
  const lost: string[] = [];
  change(from, to, lost);
  return lost;
}

function change(from: Element, to: Element, lost: string[]): void {
  if (held(from)) return;
  attributes(from, to);
  if (from instanceof HTMLTextAreaElement || from instanceof HTMLInputElement || from instanceof HTMLSelectElement) return;
  const known = new Map<string, Element>();
  for (const c of from.children) if (c.id) known.set(c.id, c);
  let at = past(from.firstChild);
  for (const next of [...to.childNodes]) {
    let match: ChildNode | null = null;
    if (next instanceof Element && next.id) {
      match = known.get(next.id) ?? null;
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
        change(match, next, lost);
        if (row) flash(match);
      }
    } else if (match.nodeValue !== next.nodeValue) {
      match.nodeValue = next.nodeValue;
    }
  }
  while (at) {
    const gone = at;
    at = past(at.nextSibling);
    lost.push(...written(gone));
    gone.remove();
  }
}

function flash(e: Element): void {
  e.classList.add("changed");
  setTimeout(() => e.classList.remove("changed"), 1300);
}
