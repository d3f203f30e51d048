import fs from 'node:fs';
const f = process.argv[2]; const p = JSON.parse(fs.readFileSync(f+'/'+fs.readdirSync(f)[0]));
const self = new Map(); const dt = p.timeDeltas; const byId = new Map(p.nodes.map(n => [n.id, n]));
let total = 0;
p.samples.forEach((id, i) => { const n = byId.get(id); const c = n.callFrame; const k = c.functionName + ' ' + c.url.split('/').slice(-2).join('/') + ':' + c.lineNumber; self.set(k, (self.get(k) ?? 0) + dt[i]); total += dt[i]; });
const n = Number(process.argv[3]);
for (const [k, v] of [...self].sort((a, b) => b[1] - a[1]).slice(0, 42)) console.log((v / n).toFixed(2).padStart(7), 'us', k);
console.log((total / n).toFixed(1));
