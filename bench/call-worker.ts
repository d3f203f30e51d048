// The worker of the scenarios about calls.
import { parentPort, workerData } from 'node:worker_threads';
import type { CallWorkerData } from './call-subject.ts';
import { callSubject } from './subjects/call-list.ts';

const { subject, data } = workerData as CallWorkerData;
await (await callSubject(subject)).serve!(data);
parentPort!.postMessage('ready');
