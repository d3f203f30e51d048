// The report's style sheet. Two palettes (the reader's system chooses), two layouts (the window chooses), and one for
// paper. Ours is the one saturated colour; amber is kept for what the reader must not miss: a rival ahead, a bad run.

const LIGHT = `
  --paper: #fdfdfc; --raised: #f6f6f3; --ink: #1b1c1e; --soft: #5f636a; --faint: #6f737a; --line: #e7e6e2; --hair: #f0efec;
  --ours: #0a6c8c; --ours-fill: #1b88a9; --ours-wash: #eef6f8; --rival-fill: #c3c6cb; --limit-fill: #e3e4e6;
  --loss: #9a4a06; --loss-fill: #d98a3d; --loss-wash: #fdf3e7; --even-fill: #b9bcc2; --tick: #1b1c1e;
  --c0: #6d727b; --c1: #9a6b9e; --c2: #7d8a3f; --c3: #b0704f; --c4: #5b73b5; --c5: #a08a4a; --c6: #4f8a72;`;

const DARK = `
  --paper: #111315; --raised: #191c1f; --ink: #e7e8ea; --soft: #a0a5ac; --faint: #8d9299; --line: #2a2e32; --hair: #1e2225;
  --ours: #5cc4e3; --ours-fill: #2f9dbf; --ours-wash: #12232a; --rival-fill: #4a5058; --limit-fill: #2c3136;
  --loss: #f0ab62; --loss-fill: #c67f35; --loss-wash: #2a2015; --even-fill: #6a7078; --tick: #ffffff;
  --c0: #9aa0a9; --c1: #c39ac7; --c2: #b3c06c; --c3: #dd9b78; --c4: #93a9e6; --c5: #d1b970; --c6: #7fc0a4;`;

const TYPE = `
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-padding-top:1.5rem}
body{margin:0;background:var(--paper);color:var(--ink);font:14px/1.5 ui-sans-serif,-apple-system,"Segoe UI Variable Text","Segoe UI",Inter,Roboto,"Helvetica Neue","Liberation Sans",Arial,sans-serif;font-variant-numeric:tabular-nums lining-nums;-webkit-font-smoothing:antialiased}
h1,h2,h3,p,dl,dd,ul,figure{margin:0;padding:0}
h1{font-size:30px;line-height:1.15;font-weight:640;letter-spacing:-.022em}
h2{font-size:19px;line-height:1.25;font-weight:620;letter-spacing:-.012em}
h3{font-size:14px;font-weight:600}
a{color:inherit;text-decoration-color:var(--line);text-underline-offset:3px}
a:hover{text-decoration-color:currentColor}
code{font:12.5px/1.45 ui-monospace,"SF Mono",SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere}
data{white-space:nowrap}
p{text-wrap:pretty}
.soft{color:var(--soft)}
.small{font-size:12.5px;color:var(--faint)}
.eyebrow{font-size:12px;color:var(--faint);letter-spacing:.01em}
.lead{max-width:68ch;color:var(--soft);font-size:15px;margin-top:.6rem}
.ours-ink{color:var(--ours)}.loss-ink{color:var(--loss)}`;

const FRAME = `
.page{display:grid;grid-template-columns:minmax(0,1fr);max-width:1320px;margin:0 auto;padding:0 32px 96px;gap:0 56px}
.page>header{padding:56px 0 36px}
main{display:grid;gap:64px;grid-template-columns:minmax(0,1fr)}
nav ol{list-style:none;margin:0;padding:0}
nav{display:none}
nav a{display:block;padding:3.5px 0;color:var(--soft);text-decoration:none;font-size:13px}
nav a:hover{color:var(--ink)}
nav .eyebrow{display:block;margin:14px 0 4px}
.notice{border:1px solid var(--loss-fill);background:var(--loss-wash);color:var(--loss);border-radius:6px;padding:10px 14px;margin-top:20px;max-width:88ch}
.notice b{font-weight:620}
@media(min-width:1080px){
  .page{grid-template-columns:172px minmax(0,1fr)}
  .page>header,.page>footer{grid-column:2}
  nav{display:block;position:sticky;top:32px;align-self:start;grid-column:1;grid-row:2;max-height:calc(100vh - 64px);overflow:auto}
  main{grid-column:2;grid-row:2}
}
footer{margin-top:72px;padding-top:20px;border-top:1px solid var(--line)}
footer p{max-width:78ch;margin-bottom:.7em}
section>header{margin-bottom:18px}
section>header p.note{max-width:78ch;color:var(--soft);margin-top:4px}
section>p.note{max-width:78ch;color:var(--soft)}section>p.note+p.note{margin-top:.8em}
.finding{margin-top:8px;max-width:78ch}`;

const TABLES = `
table{border-collapse:collapse;width:100%;font-size:13px;line-height:1.4}
th{font-weight:400;text-align:left}
thead th{font-size:12px;color:var(--faint);padding:0 14px 7px 0;border-bottom:1px solid var(--line);vertical-align:bottom}
td,tbody th{padding:4px 14px 4px 0;vertical-align:top}
th:last-child,td:last-child{padding-right:0}
.num{text-align:right;white-space:nowrap}
thead .num{text-align:right;white-space:normal}
caption{text-align:left;font-size:12px;color:var(--faint);padding-bottom:10px}
.runs th[scope=row]{color:var(--faint);width:110px;white-space:nowrap}
.runs td,.runs tbody th{border-top:1px solid var(--hair);padding-top:5px;padding-bottom:5px}
.runs tbody tr:first-child>*{border-top:0}
.glance td,.glance tbody th{border-top:1px solid var(--hair);padding-top:9px;padding-bottom:9px}
.glance tbody tr:first-child>*{border-top:0}
.glance tbody th a{font-weight:560;text-decoration:none}
.glance tbody th a:hover{text-decoration:underline}
.glance .ratio{font-size:15px;font-weight:560;letter-spacing:-.01em}
.glance .range{font-size:12px;color:var(--faint);margin-left:3px}
.glance .detail{display:block;font-size:12px;color:var(--faint)}
.score{display:block;width:100%;max-width:150px;height:4px;margin:4px 0 3px;border-radius:2px}
.score rect{fill-opacity:1}.score .ahead{fill:var(--ours-fill)}.score .even{fill:var(--even-fill)}.score .behind{fill:var(--loss-fill)}
.results tbody.row>tr:first-child>*{padding-top:17px;padding-bottom:6px;border-bottom:1px solid var(--line)}
.results tbody.row>tr:nth-child(2)>*{padding-top:7px}
.results .label{font-weight:600;white-space:nowrap}
.results .verdict{font-size:12.5px;color:var(--soft)}
.results .verdict b{font-weight:600;color:var(--ours)}
.results .verdict.behind,.results .verdict.behind b{color:var(--loss)}
.results .verdict.even b{color:var(--soft)}
.results tr.ours th{color:var(--ours);font-weight:600}
.results tr.ours .figure{font-weight:620;color:var(--ours)}
.results tr.limit th,.results tr.limit .figure{color:var(--faint);font-style:italic}
.results .behind-mark{color:var(--loss)}
.results .aside{display:block;font-size:12px;color:var(--faint);font-weight:400;font-style:normal}
.results .figure{font-weight:500;white-space:nowrap}
.results .spread{font-size:12px;color:var(--faint);white-space:nowrap}
.results tbody th{min-width:150px}
.results td.chart{width:44%;min-width:190px;vertical-align:middle}
.results td.more,.results td.base{color:var(--soft)}
.results.one thead th.num{max-width:120px}
.results.one thead th:first-child{min-width:185px}
@media(min-width:720px){.results.crowded td,.results.crowded th{padding-right:9px;font-size:12px}.results.crowded td.chart{min-width:70px}.results.crowded thead th:first-child,.results.crowded tbody th{min-width:130px}}
.results .verdict.none{color:var(--faint)}
.bar{display:block;width:100%;height:10px;overflow:visible}
.bar .fill{fill:var(--rival-fill)}
.bar.ours .fill{fill:var(--ours-fill)}
.bar.limit .fill{fill:var(--limit-fill)}
.bar.unsure .fill{fill:none;stroke:var(--loss-fill);vector-effect:non-scaling-stroke;stroke-dasharray:3 3}
.bar .rounds{stroke:var(--tick);stroke-opacity:.28;stroke-width:1;vector-effect:non-scaling-stroke;fill:none}
.bar .reach{stroke:var(--tick);stroke-width:1.5;vector-effect:non-scaling-stroke;fill:none}
.bar .cut{stroke:var(--paper);stroke-width:2;vector-effect:non-scaling-stroke;fill:none}
.results.many,.glance{table-layout:fixed}
.results.many thead th:first-child{width:190px}
.glance thead th:first-child{width:27%}
.losses td{overflow-wrap:anywhere}
@media(min-width:720px){.results thead th{position:sticky;top:0;background:var(--paper);padding-top:8px;z-index:1}}
.results.many td{padding-top:5px}
.results.many .bar{height:6px;margin:2px 0 3px}
.results.many .spread{margin-left:6px}`;

const CHARTS = `
.sweeps{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,310px),1fr));gap:22px 30px;margin:4px 0 22px}
.sweeps.many{display:block}
.family{margin-bottom:26px}
.strip{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,236px),1fr));gap:14px 20px}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:2px 18px;margin:2px 0 10px;font-size:12.5px;color:var(--soft)}
.legend li{display:flex;align-items:center;gap:7px}
.legend svg{flex:none}.legend .line{stroke-width:1.6}.legend .ours .line{stroke-width:2.4}.legend .limit .line{stroke-dasharray:2 3;stroke:var(--faint)}.legend .limit .dot{fill:var(--faint)}
.legend li.ours{color:var(--ours);font-weight:600}
.again .line{stroke-dasharray:5 3}.dotted .line{stroke-dasharray:1.5 3}.dashdot .line{stroke-dasharray:7 3 1.5 3}
.nb{white-space:nowrap}
.absent{list-style:none;color:var(--soft)}.absent li{padding:3px 0}.absent b{font-weight:500;color:var(--ink)}
.sweeps figcaption{font-size:12.5px;color:var(--soft);margin-bottom:2px}
.sweeps figcaption b{font-weight:600;color:var(--ink)}
.sweep{display:block;width:100%;height:auto;max-width:520px;overflow:visible}
.sweep text{font-size:10.5px;fill:var(--faint);font-family:inherit}
.sweep .grid{stroke:var(--hair);stroke-width:1}
.sweep .axis{stroke:var(--line);stroke-width:1}
.sweep .line{fill:none;stroke-width:1.4;stroke-linejoin:round;stroke-linecap:round}
.sweep .dot{stroke:var(--paper);stroke-width:1}
.sweep .reach{stroke-width:1.2;opacity:.55}
.sweep .leader{stroke-width:.8;opacity:.45;fill:none}
.sweep .name{font-size:11px}
.sweep .ours .line{stroke-width:2.4}
.sweep .ours .name{font-weight:600}
.sweep .limit .line{stroke-dasharray:2 4}
.sweep .limit .line,.sweep .limit .leader{stroke:var(--faint)}.sweep .limit .reach{stroke:var(--faint)}.sweep .limit .dot{fill:var(--faint)}.sweep .limit .name{font-style:italic}
${[0, 1, 2, 3, 4, 5, 6].map((at) => `.s${at} .line,.s${at} .reach,.s${at} .leader{stroke:var(--c${at})}.s${at} .dot{fill:var(--c${at})}.sweep .s${at} .name{fill:var(--c${at})}`).join('\n')}
.ours .line,.sweep .ours .reach,.ours .leader{stroke:var(--ours-fill)}.ours .dot{fill:var(--ours-fill)}.sweep .ours .name{fill:var(--ours)}`;

const NARROW = `
@media(max-width:719px){
  .page{padding:0 18px 64px}
  .page>header{padding:32px 0 24px}
  h1{font-size:25px}
  main{gap:52px}
  .stack thead{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}
  .stack,.stack tbody,.stack tr,.stack td,.stack th{display:block;padding-right:0}
  .stack td[data-of]::before{content:attr(data-of);color:var(--faint);font-size:12px}
  .runs tr{border-top:1px solid var(--hair);padding:7px 0}
  .runs th[scope=row],.runs td{border:0;padding:0}
  .runs td[data-of],.glance td[data-of]{display:grid;grid-template-columns:112px minmax(0,1fr);gap:0 12px}
  .glance tr{border-top:1px solid var(--line);padding:10px 0 8px}
  .glance td,.glance tbody th,.glance tbody tr:first-child>*{border:0;padding:2px 0}
  .glance td[data-of]>span{display:grid;grid-template-columns:auto 1fr;gap:0 8px;align-items:baseline}
  .glance td .score{grid-column:1/-1;max-width:none}
  .glance td .detail{grid-column:1/-1}
  .losses td[data-of]>span{display:block}
  caption{display:block}
  .sweep text:not(.name){font-size:12.5px}
  .results.one tr:not(:first-child){display:flex;flex-wrap:wrap;gap:0 10px;padding:5px 0;align-items:baseline}
  .results.one tbody.row>tr:not(:first-child)>*{padding:0}
  .results.one tr>th{flex:1 1 60%;min-width:0}
  .results.one tbody.row>tr>td.chart{order:2;flex:0 0 100%;width:auto;padding:2px 0 3px}
  .results.one td.figure{order:1}
  .results.one td.spread{order:3}
  .results.one td.against{order:4}
  .results.one td.base{order:5}
  .results.one td.against,.results.one td.base{font-size:12px;color:var(--faint)}
  .results.one td.against::before,.results.one td.more::before,.results.one td.base::before{content:attr(data-of) " "}
  .results.one td.more{order:6;font-size:12px;color:var(--faint)}
  .results.one td.empty{display:none}
  .results.many tr:not(:first-child){padding:6px 0}
  .results.many tbody.row>tr:not(:first-child)>*{padding-top:1px;padding-bottom:1px}
  .results.many td[data-of]{display:grid;grid-template-columns:86px minmax(0,1fr) auto;gap:0 8px;align-items:center}
  .results.many td[data-of] .bar{margin:0}
  .results.many td .both{text-align:right}
  .results.many td.verdict[data-of]{grid-template-columns:86px minmax(0,1fr)}
  .results.many td .both{display:grid;grid-template-columns:62px 82px;align-items:baseline}
  .results.many td .spread{margin:0;text-align:right}
  .results.many .empty{display:none}
  .results.many td .aside{grid-column:2/-1}
  .results tbody.row>tr:first-child>*{border:0;padding-top:1px;padding-bottom:1px}
  .results tbody.row>tr:first-child{border-bottom:1px solid var(--line);padding:18px 0 6px}
}`;

const BETWEEN = `
@media(min-width:720px) and (max-width:1279px){
  .scroll{overflow-x:auto}
  .results thead th{position:static}
}`;

const PAPER = `
@media print{
  body{font-size:10pt}
  nav{display:none!important}
  .page{display:block;padding:0;max-width:none}
  *{-webkit-print-color-adjust:exact;print-color-adjust:exact}
  tbody.row,figure{break-inside:avoid}
}`;

export const STYLE: string = `:root{color-scheme:light dark;${LIGHT}}
@media(prefers-color-scheme:dark){:root{${DARK}}}
@media print{:root{${LIGHT}}}
${TYPE}${FRAME}${TABLES}${CHARTS}${NARROW}${BETWEEN}${PAPER}`.replace(/\n\s+/g, '\n');

/** The two palettes by themselves, for pictures that stand alone. */
export const PALETTES: string = `:root{${LIGHT}}@media(prefers-color-scheme:dark){:root{${DARK}}}`.replace(
  /\n\s+/g,
  '',
);
