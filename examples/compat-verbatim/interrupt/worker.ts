import { SABMessagePort } from '../../../src/compat/sab-message-port.ts';

self.onmessage = (e) => {
  if (e.data.type !== 'SABMessagePort') return;
  const port = SABMessagePort.from(e.data);
  while (true) {
    const task = port.read(); // block until a task arrives
    if (task.cmd !== 'run') continue;
    for (let i = 0; i < task.iterations; i++) {
      /* ... heavy work ... */
      if (i % 500_000 === 0) {
        port.postMessage({ task: task.task, progress: `${((i / task.iterations) * 100) | 0}%` });
        if (port.tryRead()?.cmd === 'abort') {
          // non-blocking check
          port.postMessage({ task: task.task, aborted: true });
          break; // → back to port.read()
        }
      }
    }
  }
};
