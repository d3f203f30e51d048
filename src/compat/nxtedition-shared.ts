// The door `millrace/compat/nxtedition-shared`: the names of @nxtedition/shared 3.0.2 over our ring. Names only.
// docs/guides/moving-from-nxtedition-shared.md tells what stays and what differs.
export { alloc, type BufferRegion, type SharedBuffers } from './nxtedition-shared/buffers.ts';
export { type LiveReader, type Reader, type ReaderOptions, reader } from './nxtedition-shared/reader.ts';
export {
  type LiveWriter,
  type LiveWriterOptions,
  type Writer,
  type WriterOptions,
  writer,
} from './nxtedition-shared/writer.ts';
