// What script tags and classic workers have as `Millrace` (dist/iife/millrace.global.js): the front door, and calls under `Millrace.rpc`.
export * from './index.ts';
export * as rpc from './rpc/index.ts';
