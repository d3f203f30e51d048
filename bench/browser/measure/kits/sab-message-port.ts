// Seed 000, used through its documented names: the original, a stand-in of its documented design, and our door behind its names.
import * as door from '../../../../src/compat/sab-message-port.ts';
import { moved, type Package, packageOf, type StandIn, wrap } from '../../../ends/sab-message-port.ts';
import { loadRival } from '../rivals.ts';
import type { Kit, PageEnd, Terms } from '../subject.ts';

const hybrid = (terms: Terms): boolean => terms.way === 'mw';

/** The page's end of the hybrid knows no reading but its listener. */
function masterOf(port: Parameters<typeof wrap>[0]): PageEnd {
  const { receive: _, ...end } = wrap(port, false);
  return end;
}

function kitOf(load: (terms: Terms) => Promise<Package>): Kit {
  return {
    connect: async (terms) => {
      const { SABMessagePort, MWChannel } = await load(terms);
      const port = hybrid(terms) ? new MWChannel('m') : new SABMessagePort('a');
      const [data, transfer] = port.postInit(null);
      return {
        end: hybrid(terms) ? masterOf(port) : wrap(port, terms.blocks),
        far: { data, transfer: moved(transfer) },
      };
    },
    attach: async (data, terms) => {
      const { SABMessagePort, MWChannel } = await load(terms);
      return wrap(hybrid(terms) ? MWChannel.from(data) : SABMessagePort.from(data), terms.blocks);
    },
  };
}

export const sabMessagePort: Kit = kitOf(async ({ url }) => packageOf(await loadRival<Package | StandIn>(url)));
export const millraceSab: Kit = kitOf(async () => door as unknown as Package);
