// What console.log shows of a port: how it stands, and the counts that are worth a look. Each runtime asks under a name of
// its own; Bun under Node's.

type Inspect = (value: unknown, options?: unknown) => string;

/**
 * @param name that of the class
 * @param factsOf flat, and without what says nothing; undefined for what is no instance
 */
export function showAs<T extends object>(prototype: T, name: string, factsOf: (it: T) => object | undefined): void {
  const show = (it: T, inspect: Inspect, options: unknown): string => `${name} ${inspect(factsOf(it) ?? {}, options)}`;
  define(
    prototype,
    'nodejs.util.inspect.custom',
    function (this: T, depth: number, options: unknown, inspect: Inspect) {
      return depth < 0 ? `[${name}]` : show(this, inspect, options);
    },
  );
  define(prototype, 'Deno.customInspect', function (this: T, inspect: Inspect, options: unknown) {
    return show(this, inspect, options);
  });
}

function define(prototype: object, name: string, value: unknown): void {
  Object.defineProperty(prototype, Symbol.for(name), { value, writable: true, configurable: true });
}
