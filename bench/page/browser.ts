// What this browser is called.

interface Brand {
  readonly brand: string;
  readonly version: string;
}
interface AgentData {
  readonly brands: readonly Brand[];
  readonly platform: string;
}

/** By its token in the user agent; what claims to be several is told apart by order. */
const TOKENS = [
  ['Firefox', /Firefox\/([\d.]+)/],
  ['Edge', /Edg\/([\d.]+)/],
  ['Chrome', /(?:Headless)?Chrome\/([\d.]+)/],
  ['Safari', /Version\/([\d.]+).* Safari/],
  ['WebKit', /AppleWebKit\/([\d.]+)/],
] as const;

export interface Browser {
  readonly name: string;
  readonly version: string;
  /** `Gecko`, `AppleWebKit/605.1.15`, as the user agent has it. */
  readonly engine: string;
  readonly os: string;
}

function named(brands: readonly Brand[]): readonly [string, string] {
  // Beside an own name stands that of the engine, and one that is nobody's.
  const real = brands.filter(({ brand }) => !/not.?a.?brand/i.test(brand));
  const own = real.find(({ brand }) => brand !== 'Chromium') ?? real[0];
  if (own !== undefined) return [own.brand, own.version];
  for (const [name, token] of TOKENS) {
    const version = token.exec(navigator.userAgent)?.[1];
    if (version !== undefined) return [name, version];
  }
  return ['browser', 'unknown'];
}

/** `Chromium 156`, `Firefox 153.0`; 'browser' where nothing is known. */
export function browser(): Browser {
  const { userAgentData } = navigator as { userAgentData?: AgentData };
  const [name, version] = named(userAgentData?.brands ?? []);
  return {
    name,
    version,
    engine: /(?:AppleWebKit|Gecko)\/[\d.]+/.exec(navigator.userAgent)?.[0] ?? 'unknown',
    os: userAgentData?.platform || (/\(([^)]*)\)/.exec(navigator.userAgent)?.[1] ?? 'unknown'),
  };
}
