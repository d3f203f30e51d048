// What this browser is called.

interface Brand {
  readonly brand: string;
  readonly version: string;
}

/** By its engine's token in the user agent; what claims to be all of them is told apart by order. */
const TOKENS = [
  ['Firefox', /Firefox\/([\d.]+)/],
  ['Edge', /Edg\/([\d.]+)/],
  ['Chrome', /(?:Headless)?Chrome\/([\d.]+)/],
  ['Safari', /Version\/([\d.]+).* Safari/],
  ['WebKit', /AppleWebKit\/([\d.]+)/],
] as const;

/** `Chromium 156`, `Firefox 153.0`; 'browser' where nothing is known. */
export function browserName(): string {
  const { userAgentData } = navigator as { userAgentData?: { readonly brands: readonly Brand[] } };
  const brands = (userAgentData?.brands ?? []).filter(({ brand }) => !/not.?a.?brand/i.test(brand));
  // Beside an own name stands that of the engine.
  const own = brands.find(({ brand }) => brand !== 'Chromium') ?? brands[0];
  if (own !== undefined) return `${own.brand} ${own.version}`;
  for (const [name, token] of TOKENS) {
    const version = token.exec(navigator.userAgent)?.[1];
    if (version !== undefined) return `${name} ${version}`;
  }
  return 'browser';
}
