// The keys of a review: j and k walk the lines and comments, J and K, or v, take more
// lines, n and N walk the files, } and { the hunks, c comments on what is taken, C suggests
// other lines, z and Z resolve or apply a comment, space marks a file, b sends.

const $ = <T extends Element>(selector: string, within: ParentNode = document) => within.querySelector<T>(selector);
const all = <T extends Element>(selector: string, within: ParentNode = document) => [...within.querySelectorAll<T>(selector)];

let last: HTMLElement | null = null; // line that was worked on, also where the focus is elsewhere
let from: HTMLElement | null = null; // where what is taken begins
let taking = false; // j and k take lines, too

function line(): HTMLElement | null {
  const on = document.activeElement;
  const here = on?.closest<HTMLElement>("[data-line]") ?? on?.closest(".notes")?.previousElementSibling as HTMLElement | null | undefined;
  if (here) last = here;
  return here ?? (last?.isConnected ? last : null);
}
function file(): HTMLElement | null {
  return document.activeElement?.closest<HTMLElement>("[data-file]") ?? line()?.closest<HTMLElement>("[data-file]") ?? $<HTMLElement>("[data-file]");
}

// A place is FILE:3, or FILE:B3 for a line that was there before.
function read(place: string): { file: string; old: boolean; n: number } {
  const at = place.lastIndexOf(":");
  const number = place.slice(at + 1);
  return { file: place.slice(0, at), old: number.startsWith("B"), n: Number(number.replace("B", "")) };
}
function joined(a: string, b: string): string {
  const x = read(a), y = read(b);
  if (x.file !== y.file || x.old !== y.old || x.n === y.n) return b;
  return `${x.file}:${x.old ? "B" : ""}${Math.min(x.n, y.n)}-${Math.max(x.n, y.n)}`;
}
function mark(to: HTMLElement): void {
  const lines = all<HTMLElement>("[data-line]");
  const a = lines.indexOf(from ?? to), b = lines.indexOf(to);
  lines.forEach((l, i) => l.classList.toggle("taken", i >= Math.min(a, b) && i <= Math.max(a, b) && a !== b));
}
function taken(to: HTMLElement): string {
  return joined((from ?? to).dataset.line!, to.dataset.line!);
}

function more(by: number): void {
  const here = line();
  if (!here) return;
  const lines = all<HTMLElement>("[data-line]", here.closest("[data-file]") ?? document);
  from ??= here;
  const next = lines[Math.min(Math.max(lines.indexOf(here) + by, 0), lines.length - 1)]!;
  next.focus();
  mark(next);
}
function walk(by: number): void {
  const files = all<HTMLDetailsElement>("[data-file]");
  const here = document.activeElement?.closest<HTMLDetailsElement>("[data-file]");
  const at = here ? files.indexOf(here) + by : by > 0 ? 0 : files.length - 1;
  const to = files[Math.min(Math.max(at, 0), files.length - 1)];
  to?.focus();
  to?.scrollIntoView({ block: "start" });
}
// hunk goes to the first line of the hunk after or before the line.
function hunk(by: number): void {
  const starts = all(".d-hunk").filter((h) => h.checkVisibility()).map((h) => h.nextElementSibling as HTMLElement);
  const on = document.activeElement?.closest("[data-review]") ? document.activeElement : line();
  const at = (s: Element) => (on ? on.compareDocumentPosition(s) : 4) & 6; // 2: before, 4: after
  const to = by > 0 ? starts.find((s) => at(s) === 4) : starts.findLast((s) => at(s) === 2);
  to?.focus();
}
// settle does to a comment what a button of it does.
function settle(what: string, explain: (text: string) => void): void {
  const on = document.activeElement?.closest(".note");
  const here = line()?.nextElementSibling;
  const button = [on, ...(on || !here?.matches(".notes") ? [] : all(".note", here))]
    .map((n) => n && $<HTMLElement>(`[data-do=${what}] button`, n)).find((b) => b);
  if (button) button.click();
  else explain(`There is nothing to ${what} here: go to a comment with j and k.`);
}
// suggest writes a comment with other lines in place of those that are taken.
function suggest(explain: (text: string) => void): void {
  const here = line(), place = here ? taken(here) : "";
  if (!here || read(place).old) {
    explain("A suggestion needs lines that are there: go to one with j and k.");
    return;
  }
  write(place);
  const box = $<HTMLDetailsElement>("#suggest"), text = $<HTMLTextAreaElement>("#instead");
  if (!box || !text) return;
  box.dataset.touched = "yes";
  box.open = true;
  instead(text, place);
  text.focus();
}
function write(place: string): void {
  const box = $<HTMLDetailsElement>("#draft"), where = $<HTMLInputElement>("#place");
  if (!box || !where) return;
  box.open = true;
  box.dataset.touched = "yes";
  where.value = place;
  shown();
  $<HTMLElement>("#body")?.focus();
}
// shown notes that what is written is about the change as it is on the page.
function shown(): void {
  const commit = $<HTMLInputElement>("#draft-form [data-held]"), now = $<HTMLElement>("[data-review]")?.dataset.commit;
  if (commit && now) commit.value = now;
}
function clear(): void {
  from = null;
  taking = false;
  for (const l of all(".taken")) l.classList.remove("taken");
}

// pressed does what a key does on a review; false where it does nothing.
export function pressed(key: string, explain: (text: string) => void): boolean {
  if (!$("[data-review]")) return false;
  switch (key) {
    case "J": more(1); return true;
    case "K": more(-1); return true;
    case "v": {
      const start = taking ? null : line();
      clear();
      from = start;
      taking = start !== null;
      return true;
    }
    case "n": walk(1); return true;
    case "N": walk(-1); return true;
    case "}": hunk(1); return true;
    case "{": hunk(-1); return true;
    case "z": settle("resolve", explain); return true;
    case "Z": settle("apply", explain); return true;
    case "C": suggest(explain); return true;
    case "c": {
      const here = line();
      write(here ? taken(here) : file()?.dataset.file ?? ".");
      return true;
    }
    case " ": {
      if (document.activeElement?.matches("summary, button, a")) return false; // the browser has a meaning for it
      $<HTMLElement>("[data-do=viewed] button, [data-do=unviewed] button", file() ?? document)?.click();
      return true;
    }
    case "b": $<HTMLElement>("#send button")?.click(); return true;
    case "Escape": clear(); return true;
    case "j": case "k": {
      if (taking) more(key === "j" ? 1 : -1);
      else clear();
      return taking;
    }
  }
  return false;
}

document.addEventListener("click", (e) => {
  const to = (e.target as Element).closest<HTMLAnchorElement>("a[data-at]");
  if (!to || e.ctrlKey || e.metaKey || !$("#draft")) return;
  e.preventDefault();
  const row = to.closest<HTMLElement>("[data-line]");
  if (!row) {
    write(to.dataset.at!);
    return;
  }
  const start = line();
  if (e.shiftKey && start) {
    from = start;
    mark(row);
  } else {
    clear();
  }
  last = row;
  write(e.shiftKey && from ? taken(row) : to.dataset.at!);
});

// What is suggested begins as what is there.
document.addEventListener("toggle", (e) => {
  const box = e.target as HTMLDetailsElement;
  const text = $<HTMLTextAreaElement>("#instead"), where = $<HTMLInputElement>("#place");
  if (box.id === "suggest" && box.open && text && where) instead(text, where.value);
}, true);
function instead(text: HTMLTextAreaElement, place: string): void {
  const range = /^(.*):(\d+)(?:-(\d+))?$/.exec(place);
  if (!range || text.value !== "") return;
  const lines: string[] = [];
  for (let n = Number(range[2]); n <= Number(range[3] ?? range[2]); n++) {
    const code = all<HTMLElement>("[data-line]").find((l) => l.dataset.line === `${range[1]}:${n}`)?.lastElementChild;
    if (!code) return;
    lines.push([...code.childNodes].filter((c) => !(c instanceof Element && c.matches(".sign"))).map((c) => c.textContent).join(""));
  }
  text.value = lines.join("\n");
}

// What was kept leaves the form, and its author goes on where they were.
document.addEventListener("htmx:afterSettle", (e) => done(e as CustomEvent<{ elt?: Element; requestConfig?: { elt?: Element } }>));
function done(e: CustomEvent<{ elt?: Element; requestConfig?: { elt?: Element } }>): void {
  const form = e.detail.requestConfig?.elt;
  if (!(form instanceof HTMLFormElement) || form.id !== "draft-form" || $("#said.bad")) return;
  form.reset();
  for (const field of all<HTMLTextAreaElement | HTMLInputElement>("textarea, #place", form)) field.value = "";
  for (const box of all<HTMLDetailsElement>("#draft, #suggest")) box.open = false;
  shown();
  clear();
  if (last?.isConnected) last.focus();
}
