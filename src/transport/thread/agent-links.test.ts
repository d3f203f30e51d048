import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OwnAgent } from '../../link/own-agent.ts';
import { createNatives } from '../../memory/native-pair.ts';
import { AgentLinks, KNOWN, knownLink, UNKNOWN } from './agent-links.ts';
import { LINK, ThreadLink } from './thread-link.ts';

test('a channel does not come to a link that its founder has left before it was agreed to', () => {
  const { near, far } = createNatives();
  const link = new ThreadLink(near);
  const said: unknown[] = [];
  link.say = (message) => {
    said.push(message);
    return true;
  };
  const links = new AgentLinks(new OwnAgent());
  const known = knownLink('somebody', link, false);
  links.know(known);
  const heard: unknown[] = [];
  const token = links.expect({
    known: (from, address, countersign) => heard.push([from, address, countersign]),
    unknown: () => assert.fail('it was said'),
  });
  link.told([KNOWN, LINK, token, 5, 'countersign']);
  assert.deepEqual([heard.splice(0), said], [[[known, 5, 'countersign']], []]);
  // Who founded it moves on: the other thread may take it for a link still, and asks there for another channel.
  link.ended();
  link.told([KNOWN, LINK, token, 5, 'countersign']);
  assert.deepEqual([heard, said], [[], [[UNKNOWN, LINK, 'countersign']]]);
  link.close(false);
  for (const port of [far.tether, far.side]) port.close();
});
