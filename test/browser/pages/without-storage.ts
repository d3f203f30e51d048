/** Plays a browser that lets no page keep anything: to ask for sessionStorage throws. */
export async function withoutStorage<T>(body: () => Promise<T>): Promise<T> {
  const own = Object.getOwnPropertyDescriptor(globalThis, 'sessionStorage') as PropertyDescriptor;
  const get = (): never => {
    throw new DOMException('Access is denied for this document.', 'SecurityError');
  };
  Object.defineProperty(globalThis, 'sessionStorage', { configurable: true, get });
  try {
    return await body();
  } finally {
    Object.defineProperty(globalThis, 'sessionStorage', own);
  }
}
