// `node:process` in a browser's worker: what suites and their kit ask of it. What one step may take is less than what a page gives a check.
export default {
  env: { HANG_SECONDS: '15', COUNT: '10' } as Record<string, string | undefined>,
  version: '',
  versions: {} as Record<string, string | undefined>,
  /** A worker ends itself by `close`, once what runs in it has returned. */
  exit: (): void => self.close(),
};
