import type { Scenario } from '../contest.ts';
import { article2016 } from './article-2016.ts';
import { callsBlocking, callsPool, callsScenario } from './calls.ts';
import { manyPortsScenario, open } from './channels.ts';
import { afterRest, firstThousand } from './cold.ts';
import { networks } from './networks.ts';
import { processAfterRest, processChannels, processFirstThousand } from './process-cold.ts';
import { processStream } from './process-stream.ts';
import { roundTrip } from './round-trip.ts';
import { smp1000, smpRoundTrip, smpSustained } from './sab-message-port-tables.ts';
import { selectScenario } from './select.ts';
import { sharedIpc } from './shared-ipc.ts';
import { sharedRate, sharedThroughput } from './shared-tables.ts';
import { startup, workers50 } from './startup.ts';
import { stream } from './stream.ts';
import { bunStrings, strings } from './strings.ts';
import { fanOut, latencyHistogram, scaling } from './threads-more.ts';
import { processTopicScenario, topicScenario } from './topic.ts';
import { values } from './values.ts';

export const scenarios: readonly Scenario[] = [
  roundTrip,
  stream,
  smp1000,
  smpSustained,
  smpRoundTrip,
  sharedThroughput,
  sharedRate,
  sharedIpc,
  bunStrings,
  values,
  strings,
  fanOut,
  topicScenario,
  startup,
  workers50,
  open,
  manyPortsScenario,
  selectScenario,
  afterRest,
  firstThousand,
  callsScenario,
  callsBlocking,
  callsPool,
  latencyHistogram,
  scaling,
  article2016,
  processStream,
  processAfterRest,
  processFirstThousand,
  processChannels,
  processTopicScenario,
  networks,
];
