// test/kit/in-one-file.ts in a browser: the threads of suites are one script (bundle-suites.mjs), and stand ready (threads.ts).
export const inOneFile = (module: URL): URL => module;
