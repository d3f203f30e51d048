// What a codec looks at between payloads, where it keeps none of the memory that it was handed.
import { type Views, viewsOf } from '../memory/region.ts';

export const NO_MEMORY: Views = /* @__PURE__ */ viewsOf(new ArrayBuffer(0));
