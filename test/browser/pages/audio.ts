// The ring door in an AudioWorklet, loaded as it is shipped: samples that this page writes come out of an offline audio graph, and the
// programs of docs/guides/audio.md play a tone in a live one and record it. Whoever opens the page gets a button that plays it.
import { allocate, Consumer, open, Producer } from '../../../src/ring/index.ts';
import { afterwards, check, equal, ok, rest, within } from './checks.ts';

const BLOCK = 128;
const BLOCKS = 40;
const RATE = 48_000;
const HERTZ = 440;
const toneAt = (frame: number): number => Math.fround(Math.sin((2 * Math.PI * HERTZ * frame) / RATE));

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
  for (let block = 0; block < BLOCKS; block++) {
    const offset = producer.tryClaim(BLOCK * 4);
    ok(offset >= 0, 'no room');
    for (let i = 0; i < BLOCK; i++) floats[(offset >>> 2) + i] = toneAt(block * BLOCK + i);
    producer.commit();
  }
  const context = new OfflineAudioContext(1, BLOCKS * BLOCK, RATE);
  const module = new Blob([PROCESSOR(`${location.origin}/browser/ring.js`)], { type: 'text/javascript' });
  await within('the module', context.audioWorklet.addModule(URL.createObjectURL(module)));
  const node = new AudioWorkletNode(context, 'from-ring', { processorOptions: { memory } });
  node.connect(context.destination);
  const rendered = (await within('the samples', context.startRendering())).getChannelData(0);
  const wrong = rendered.findIndex((value, i) => value !== toneAt(i));
  equal(wrong, -1, 'the first sample that differs');
});

// ---- live, by the programs of the guide -----------------------------------------------------------------------------

interface Tone {
  readonly player: AudioWorkletNode;
  readonly missed: Int32Array;
  set(index: number, value: number): boolean;
  stop(): void;
}
const GUIDE = `${location.origin}/doc-examples/docs.guides.audio`;
const play = async (context: AudioContext): Promise<Tone> =>
  (await import(`${GUIDE}/main.js`)).play(context, HERTZ) as Promise<Tone>;

const button = document.body.appendChild(document.createElement('button'));
button.textContent = `Play ${HERTZ} Hz`;
button.onclick = () => play(new AudioContext());

async function liveContext(): Promise<AudioContext> {
  const context = new AudioContext({ sampleRate: RATE });
  afterwards(() => context.close());
  await within('the context to run', context.resume());
  equal(context.state, 'running');
  return context;
}

interface Tape {
  /** All samples of both channels, as they come. */
  readonly left: number[];
  readonly right: number[];
  readonly dropped: Int32Array;
  /** Until so many frames are there in all. */
  until(frames: number): Promise<void>;
}
async function record(context: AudioContext, from: AudioNode, bytes = 1 << 18): Promise<Tape> {
  const recorded = allocate(bytes);
  const dropped = new Int32Array(new SharedArrayBuffer(4));
  await within('the recorder', context.audioWorklet.addModule(`${GUIDE}/recorder.js`));
  const node = new AudioWorkletNode(context, 'recorder', { processorOptions: { recorded, dropped } });
  from.connect(node).connect(context.destination);
  const consumer = new Consumer(open(recorded));
  const floats = new Float32Array(recorded);
  const tape: Tape = { left: [], right: [], dropped, until };
  async function until(frames: number): Promise<void> {
    while (tape.left.length < frames) {
      consumer.drain((_, offset, length, channels) => {
        const [at, count] = [offset >>> 2, (length >>> 2) / channels];
        tape.left.push(...floats.subarray(at, at + count));
        tape.right.push(...floats.subarray(at + count * (channels - 1), at + count * channels));
      });
      await rest(5);
    }
  }
  return tape;
}

/** Where in a recording sound begins, and how many samples from there on are the tone's, one after the other. */
function toneIn(samples: readonly number[]): { readonly start: number; readonly count: number } {
  const start = samples.findIndex((value) => value !== 0);
  const is = (frame: number, i: number): boolean => toneAt(frame) === samples[start + i];
  const from = (frame: number): number => {
    let count = 0;
    while (start + count < samples.length && is(frame + count, count)) count++;
    return count;
  };
  // The recorder may have come when it had been playing for a while. Some samples are the same, to the last bit, a period earlier.
  let count = 0;
  for (let frame = 0; frame < RATE * 10; frame++) count = Math.max(count, from(frame));
  return { start, count };
}

check('a worker’s tone comes out of a live context, sample by sample', async () => {
  const context = await liveContext();
  const tone = await within('the tone', play(context));
  afterwards(() => tone.stop());
  const { until, left, right, dropped } = await record(context, tone.player);
  await within('some sound', until(BLOCK * 4), 15);
  const missed = Atomics.load(tone.missed, 0);
  await within('a second of sound', until(RATE), 15);
  const { start, count } = toneIn(left);
  equal(toneIn(right), { start, count }, 'left and right:');
  // Under load a block may come late: silence, which is counted. The tone is whole until then.
  const late = Atomics.load(tone.missed, 0) > missed || Atomics.load(dropped, 0) > 0;
  ok(
    start >= 0 && count >= (late ? BLOCK : left.length - start),
    `${count} samples from ${start} on, of ${left.length}; missed ${tone.missed[0]}, dropped ${dropped[0]}`,
  );
});

check('a parameter of the page reaches the worklet', async () => {
  const context = await liveContext();
  const tone = await within('the tone', play(context));
  afterwards(() => tone.stop());
  const { until, left } = await record(context, tone.player);
  await within('the tone', until(BLOCK * 8));
  ok(tone.set(0, 0.25), 'no room for a change');
  const quiet = async (): Promise<void> => {
    for (;;) {
      await until(left.length + BLOCK * 40);
      const loudest = Math.max(...left.slice(-BLOCK * 16).map(Math.abs));
      if (loudest > 0 && loudest <= 0.25) return;
    }
  };
  await within('a quieter tone', quiet());
});

check('a recorder whose reader does not read drops and counts, and goes on when it does', async () => {
  const context = await liveContext();
  const source = new ConstantSourceNode(context, { offset: 0.5 });
  source.start();
  const { until, left, dropped } = await record(context, source, 1 << 13);
  const full = async (): Promise<void> => {
    while (Atomics.load(dropped, 0) < BLOCK * 4) await rest(5);
  };
  await within('dropped frames', full());
  await within('what comes then', until(BLOCK * 40));
  ok(
    left.every((value) => value === 0.5),
    'other samples than those recorded',
  );
});

check('a worklet may wake, and in Chromium it may not sleep', async () => {
  const context = await liveContext();
  const bell = new Int32Array(new SharedArrayBuffer(4));
  const text = `
    registerProcessor('sleeper', class extends AudioWorkletProcessor {
      constructor({ processorOptions: { bell } }) {
        super();
        const told = [Atomics.notify(bell, 0)];
        try { Atomics.wait(bell, 0, 0, 1); told.push('slept'); } catch (error) { told.push(error.name); }
        this.port.postMessage(told);
      }
      process() { return true; }
    });`;
  await context.audioWorklet.addModule(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })));
  const node = new AudioWorkletNode(context, 'sleeper', { processorOptions: { bell } });
  const told = await within(
    'word of it',
    new Promise((resolve) => (node.port.onmessage = ({ data }) => resolve(data))),
  );
  equal(told, [0, navigator.userAgent.includes('Chrome') ? 'TypeError' : 'slept']);
});
