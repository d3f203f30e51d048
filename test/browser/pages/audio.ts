// The ring door in an AudioWorklet, loaded as it is shipped: samples that this page writes come out of an offline audio graph.
import { allocate, open, Producer } from '../../../src/ring/index.ts';
import { check, equal, ok, within } from './checks.ts';

const BLOCK = 128;
const BLOCKS = 40;
const RATE = 48_000;

/** Plays the records of a ring, one block in each. */
const PROCESSOR = (door: string): string => `
  import { Consumer, open } from ${JSON.stringify(door)};
  registerProcessor('from-ring', class extends AudioWorkletProcessor {
    constructor({ processorOptions: { memory } }) {
      super();
      this.consumer = new Consumer(open(memory));
      this.floats = new Float32Array(memory);
    }
    process(inputs, [[out]]) {
      const offset = this.consumer.tryNext();
      if (offset >= 0) for (let i = 0, at = offset >>> 2; i < out.length; i++) out[i] = this.floats[at + i];
      this.consumer.release();
      return true;
    }
  });`;

check('samples from the page come out of an AudioWorklet', async () => {
  const memory = allocate(BLOCKS * BLOCK * 4 * 2);
  const floats = new Float32Array(memory);
  const producer = new Producer(open(memory));
  const sample = (i: number): number => Math.fround(Math.sin((2 * Math.PI * 440 * i) / RATE));
  for (let block = 0; block < BLOCKS; block++) {
    const offset = producer.tryClaim(BLOCK * 4);
    ok(offset >= 0, 'no room');
    for (let i = 0; i < BLOCK; i++) floats[(offset >>> 2) + i] = sample(block * BLOCK + i);
    producer.commit();
  }
  const context = new OfflineAudioContext(1, BLOCKS * BLOCK, RATE);
  const module = new Blob([PROCESSOR(`${location.origin}/browser/ring.js`)], { type: 'text/javascript' });
  await within('the module', context.audioWorklet.addModule(URL.createObjectURL(module)));
  const node = new AudioWorkletNode(context, 'from-ring', { processorOptions: { memory } });
  node.connect(context.destination);
  const rendered = (await within('the samples', context.startRendering())).getChannelData(0);
  const wrong = rendered.findIndex((value, i) => value !== sample(i));
  equal(wrong, -1, 'the first sample that differs');
});
