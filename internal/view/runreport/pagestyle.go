package runreport

// pageStyle is the style sheet of a page.
const pageStyle = `:root{color-scheme:light dark;--bg:#fff;--text:#101828;--note:#475467;--line:#d0d5dd;--card:#f9fafb;
--good:#027a48;--bad:#b42318;--warn:#93370d;--focus:#175cd3}
@media(prefers-color-scheme:dark){:root{--bg:#10151f;--text:#f2f4f7;--note:#b6bfcc;--line:#30394a;--card:#181f2c;
--good:#5fd49d;--bad:#ff9c92;--warn:#fec84b;--focus:#84caff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1200px;padding:24px 20px 48px;background:var(--bg);color:var(--text);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
h1{font-size:26px;line-height:1.25;margin:4px 0 12px}
h2{font-size:20px;margin:36px 0 12px;border-bottom:1px solid var(--line);padding-bottom:6px}
h3{font-size:16px;margin:0 0 4px;font-weight:500}
small,.note,.run,footer{color:var(--note)}
small{font-weight:400;font-size:15px}
.note,footer{font-size:14px;margin:2px 0 6px}
.run{margin:0}
code{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.figures{display:flex;flex-wrap:wrap;gap:12px;margin:16px 0 0}
.figures div{flex:1 1 150px;border:1px solid var(--line);border-radius:8px;padding:8px 12px;background:var(--card)}
dt{font-size:13px;color:var(--note)}
dd{margin:0;font-weight:600}
article{border:1px solid var(--line);border-radius:8px;background:var(--card);padding:12px 14px;margin:0 0 10px}
article:target{outline:2px solid var(--focus)}
.mark{white-space:nowrap;font-weight:600}
.good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}
.look{padding-left:0;list-style:none}
.look li{border-left:4px solid var(--warn);padding:4px 12px;margin:0 0 8px;background:var(--card)}
.kind{display:inline-block;min-width:72px;font-size:13px;color:var(--warn);font-weight:600}
summary{cursor:pointer;padding:4px 0}
.wide{overflow-x:auto;margin:6px 0}
.wide:focus-visible,summary:focus-visible,a:focus-visible{outline:2px solid var(--focus);outline-offset:2px}
table{border-collapse:collapse;font-size:14px;min-width:min(100%,420px);overflow-wrap:break-word}
th,td{text-align:left;vertical-align:top;max-width:34em;padding:5px 14px 5px 0;border-bottom:1px solid var(--line)}
th{font-weight:600;color:var(--note)}
.n{text-align:right;font-variant-numeric:tabular-nums}
footer{margin-top:40px;border-top:1px solid var(--line);padding-top:12px}
@media(max-width:600px){body{padding:16px 14px 40px}h1{font-size:21px}.figures div{flex-basis:120px}}
@media print{:root{--bg:#fff;--text:#000;--note:#333;--line:#bbb;--card:#fff;--good:#027a48;--bad:#b42318;--warn:#93370d}
body{max-width:none;padding:0;font-size:11pt}article,tr,.look li{break-inside:avoid}h2,h3{break-after:avoid}
.wide{overflow:visible}.wide svg{max-width:100%;height:auto}}
`
