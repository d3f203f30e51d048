// The page of worklet-heap.mjs: plays the tone of docs/guides/audio.md and records it, or runs a processor that makes one object a block.
// It has no checks.
import { allocate } from '../../../src/ring/index.ts';

const RATE = 48_000;
const GUIDE = `${location.origin}/doc-examples/docs.guides.audio`;
/** What is measured must be seen: 128 frames a block, and a view of them for each. */
const WASTEFUL = `registerProcessor('wasteful', class extends AudioWorkletProcessor {
  process(inputs, outputs) {
    this.view = outputs[0][0].subarray(0, 64);
    return true;
  }
});`;

const context = new AudioContext({ sampleRate: RATE });
await context.resume();
if (new URLSearchParams(location.search).has('wasteful')) {
  await context.audioWorklet.addModule(URL.createObjectURL(new Blob([WASTEFUL], { type: 'text/javascript' })));
  new AudioWorkletNode(context, 'wasteful').connect(context.destination);
} else {
  const { player } = await (await import(`${GUIDE}/main.js`)).play(context, 440);
  await context.audioWorklet.addModule(`${GUIDE}/recorder.js`);
  // Nobody reads it: it fills up, and drops.
  const processorOptions = { recorded: allocate(1 << 18), dropped: new Int32Array(new SharedArrayBuffer(4)) };
  player.connect(new AudioWorkletNode(context, 'recorder', { processorOptions })).connect(context.destination);
}
Object.assign(self, { secondsPlayed: () => context.currentTime });
