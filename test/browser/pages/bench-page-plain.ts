// The same without the headers that isolate.
import './bench-page.ts';
