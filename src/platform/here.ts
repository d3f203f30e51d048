// Where this program's file is, for what is found from there: the addon, packages of others.
import { pathToFileURL } from 'node:url';

declare const __filename: string | undefined;

/** esbuild leaves `import.meta` empty where it makes CommonJS of a program: there the file has its name as any such module. */
export const HERE: string =
  (import.meta.url as string | undefined) ??
  (typeof __filename === 'string' ? pathToFileURL(__filename).href : 'data:,');
