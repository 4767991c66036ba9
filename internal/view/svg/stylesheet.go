package svg

// Style is the style sheet of drawings. A page includes it once, for all of them. It follows the
// light or dark setting of the reader; a page with its own switch sets data-theme on its root.
const Style = `.nx{max-width:none;color-scheme:light dark}
.nx,[data-theme=light] .nx{--nx-text:#101828;--nx-note:#475467;--nx-line:#667085;--nx-tick:#e4e7ec;--nx-box:#fff;
--nx-good:#027a48;--nx-goodbox:#ecfdf3;--nx-bad:#b42318;--nx-badbox:#fef3f2;--nx-warn:#93370d;--nx-warnbox:#fffaeb;
--nx-busy:#175cd3;--nx-busybox:#eff8ff;--nx-idle:#e4e7ec;--nx-hatch:#fff}
@media(prefers-color-scheme:dark){.nx{--nx-text:#f2f4f7;--nx-note:#b6bfcc;--nx-line:#98a2b3;--nx-tick:#30394a;--nx-box:#1b2331;
--nx-good:#5fd49d;--nx-goodbox:#10291f;--nx-bad:#ff9c92;--nx-badbox:#361a18;--nx-warn:#fec84b;--nx-warnbox:#33250f;
--nx-busy:#84caff;--nx-busybox:#12263f;--nx-idle:#30394a;--nx-hatch:#10151f}}
[data-theme=dark] .nx{--nx-text:#f2f4f7;--nx-note:#b6bfcc;--nx-line:#98a2b3;--nx-tick:#30394a;--nx-box:#1b2331;
--nx-good:#5fd49d;--nx-goodbox:#10291f;--nx-bad:#ff9c92;--nx-badbox:#361a18;--nx-warn:#fec84b;--nx-warnbox:#33250f;
--nx-busy:#84caff;--nx-busybox:#12263f;--nx-idle:#30394a;--nx-hatch:#10151f}
.nx text{fill:var(--nx-text)}
.nx .note{fill:var(--nx-note);font-size:11px}
.nx .edge{stroke:var(--nx-line)}
.nx .edge.critical{stroke:var(--nx-text)}
.nx .edge.collides{stroke:var(--nx-warn)}
.nx .tip{fill:var(--nx-line)}
.nx .tip.critical{fill:var(--nx-text)}
.nx .node rect{fill:var(--nx-box);stroke:var(--nx-line)}
.nx .node.critical rect{stroke-width:2.6}
.nx .lane-done rect{fill:var(--nx-goodbox);stroke:var(--nx-good)}
.nx .lane-done .id{fill:var(--nx-good)}
.nx .lane-stopped rect{fill:var(--nx-badbox);stroke:var(--nx-bad)}
.nx .lane-stopped .id{fill:var(--nx-bad)}
.nx .lane-needs-you rect{fill:var(--nx-warnbox);stroke:var(--nx-warn)}
.nx .lane-needs-you .id{fill:var(--nx-warn)}
.nx .lane-running rect,.nx .lane-verifying rect,.nx .lane-review rect,.nx .lane-landing rect{fill:var(--nx-busybox);stroke:var(--nx-busy)}
.nx .lane-running .id,.nx .lane-verifying .id,.nx .lane-review .id,.nx .lane-landing .id{fill:var(--nx-busy)}
.nx .lane-blocked rect{stroke-dasharray:4 3}
.nx .tick{stroke:var(--nx-tick)}
.nx .stage-idle rect{fill:var(--nx-idle)}
.nx .span.open rect{opacity:.75}
.nx .mark{stroke:var(--nx-bad)}
.nx .line{stroke:var(--nx-hatch)}
.nx .dot{fill:var(--nx-hatch)}
.nx a:focus-visible rect,.nx a:hover rect{stroke:var(--nx-text);stroke-width:2.6}
@media print{.nx{--nx-text:#000;--nx-note:#333;--nx-line:#444;--nx-tick:#ddd;--nx-box:#fff;--nx-good:#027a48;--nx-goodbox:#fff;
--nx-bad:#b42318;--nx-badbox:#fff;--nx-warn:#93370d;--nx-warnbox:#fff;--nx-busy:#175cd3;--nx-busybox:#fff;--nx-idle:#eee;--nx-hatch:#fff;
print-color-adjust:exact;-webkit-print-color-adjust:exact}}
`
