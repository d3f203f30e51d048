// The pages of the links that this thread comes to share, for tests that write there what nobody should.
import { SIDE_0, SIDE_1 } from '../../src/link/layout.ts';
import { ThreadLink } from '../../src/transport/thread/thread-link.ts';

export interface SharedPage {
  readonly page: SharedArrayBuffer;
  /** Where the words of this thread's side begin. */
  readonly own: number;
}
export const linkPages: SharedPage[] = [];

const { share } = ThreadLink.prototype;
ThreadLink.prototype.share = function (page, side, ...more): void {
  linkPages.push({ page, own: side === 0 ? SIDE_0 : SIDE_1 });
  share.call(this, page, side, ...more);
};
