// `#platform` leads here: the platform of the runtime that loads this module. Noticed at load, not by conditions of
// package.json, because not everybody who loads these files asks package.json: a bundle made for Node runs on Bun and
// Deno too, and Deno imports files by their address. The build for browsers has browser.ts in this one's place.
//
// Five things and not one, each picked by a pure call: a door that needs no threads is bundled without what starts them.
import { process } from './builtins.ts';
import { bunMemory, bunPlatform, bunStart, bunText } from './bun.ts';
import type { HostForms, MemoryPlatform, Platform, StartPlatform, TextPlatform } from './contract.ts';
import { denoMemory, denoPlatform, denoStart, denoText } from './deno.ts';
import { nodePlatform } from './node.ts';
import { nodeMemory, nodeText } from './node-memory.ts';
import { nodeStart } from './node-starting.ts';

function pick<T>(node: T, bun: T, deno: T): T {
  const { versions } = process;
  return versions['bun'] !== undefined ? bun : versions['deno'] !== undefined ? deno : node;
}

export const platform: Platform = /* @__PURE__ */ pick(nodePlatform, bunPlatform, denoPlatform);
export const platformMemory: MemoryPlatform = /* @__PURE__ */ pick(nodeMemory, bunMemory, denoMemory);
export const platformText: TextPlatform = /* @__PURE__ */ pick(nodeText, bunText, denoText);
export const platformStart: StartPlatform = /* @__PURE__ */ pick(nodeStart, bunStart, denoStart);
// A thread that blocks here reads what comes by the runtime's own way.
export const platformForms: HostForms | undefined = undefined;
