// Changes a part of the page into another one with idiomorph, and keeps what somebody is doing
// in it: the focus, what is typed, what is unfolded, what is scrolled.

interface Callbacks {
  beforeNodeMorphed(from: Node, to: Node): boolean;
  beforeNodeRemoved(n: Node): boolean;
  beforeAttributeUpdated(name: string, e: Element, change: "update" | "remove"): boolean;
}
declare const Idiomorph: {
  morph(from: Element, to: Element, options: { morphStyle: "outerHTML"; restoreFocus: boolean; callbacks: Callbacks }): void;
};

// What only the page itself knows of an element, and the server does not.
const own = new Set(["open", "data-touched"]);

// What a person folds or unfolds stays as it is. A browser reports that a moment
// later, and that moment is bridged by the focus, which is in it. A file folds when
// somebody at one of its lines says that they have seen it.
function touched(e: Element): boolean {
  if (!(e instanceof HTMLDetailsElement)) return false;
  return e.dataset.touched === "yes" || (e.dataset.file === undefined && e.contains(document.activeElement));
}

function changeable(name: string, e: Element, change: "update" | "remove"): boolean {
  return !(name === "data-touched" && change === "remove") && !(own.has(name) && touched(e));
}

// What is in a field belongs to the person: it gets its new attributes, and keeps its value.
function attributes(from: Element, to: Element): void {
  for (const { name, value } of [...to.attributes]) {
    if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
  for (const { name } of [...from.attributes]) {
    if (!to.hasAttribute(name)) from.removeAttribute(name);
  }
}
function isField(n: Node): n is HTMLTextAreaElement | HTMLInputElement | HTMLSelectElement {
  return n instanceof HTMLTextAreaElement || n instanceof HTMLInputElement || n instanceof HTMLSelectElement;
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
const ownPart = (n: Node) => n instanceof Element && n.hasAttribute("data-own");

// swap changes a part of the page into another one. Rows are found again wherever
// they went, and who was at one that is no longer there is at the one in its place.
// It returns what somebody wrote and did not send where that cannot be written any more.
export function swap(from: Element, to: Element): string[] {
  const texts = [...from.querySelectorAll("textarea")].filter((t) => t.value.trim() !== "" && t.value !== t.defaultValue && !(t.form && sent.has(t.form)));
  const was = document.activeElement instanceof HTMLElement && from.contains(document.activeElement) ? document.activeElement : null;
  const mine = was?.closest<HTMLElement>("[data-row]");
  const place = mine ? [...from.querySelectorAll("[data-row]")].indexOf(mine) : -1;
  morph(from, to);
  if (was && document.activeElement !== was) {
    const left = [...from.querySelectorAll<HTMLElement>("[data-row]")].filter((r) => r.checkVisibility());
    const there = was.isConnected ? was : mine?.isConnected ? mine : place < 0 ? undefined : left[Math.min(place, left.length - 1)];
    there?.focus({ preventScroll: true });
  }
  return texts.filter((t) => !t.isConnected).map((t) => t.value);
}

function morph(from: Element, to: Element): void {
  const changed = new Set<Element>();
  Idiomorph.morph(from, to, {
    morphStyle: "outerHTML",
    restoreFocus: false, // see swap
    callbacks: {
      beforeNodeMorphed(from, to) {
        if (!(from instanceof Element && to instanceof Element) || from.nodeName !== to.nodeName) return true;
        if (held(from)) return false;
        if (isField(from)) {
          attributes(from, to);
          return false;
        }
        if (from.hasAttribute("data-row") && from.id === to.id && !from.isEqualNode(to)) changed.add(from);
        return true;
      },
      beforeNodeRemoved: (n) => !ownPart(n),
      beforeAttributeUpdated: changeable,
    },
  });
  changed.forEach(flash);
}

function flash(e: Element): void {
  e.classList.add("changed");
  setTimeout(() => e.classList.remove("changed"), 1300);
}
