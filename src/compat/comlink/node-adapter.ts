// The door that stands in the place of 'comlink/dist/esm/node-adapter', which has a default export.
import { type Endpoint, nodeEndpoint as endpointOf, type NodeEndpoint } from './endpoints.ts';

export type { Endpoint, NodeEndpoint };

/** An endpoint of what Node's `worker_threads` has. */
export default function nodeEndpoint(node: NodeEndpoint): Endpoint {
  return endpointOf(node);
}
