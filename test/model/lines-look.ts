// What of lines-stage.ts a state is told by.
import { Digest } from '../kit/explore-digest.ts';

/** Nothing depends on them here, or they never change. */
const LEFT_OUT = [
  'card',
  'parking',
  'lending',
  'leftOver',
  'together',
  'teller',
  'remains',
  '$events',
  '$options',
  'handlers',
  'nth',
];
const TOKEN = /\b(\d+)-4711-4711-4711\b/g;

/** What threads and channels look like. */
export const digest: Digest = new Digest(LEFT_OUT, TOKEN);
