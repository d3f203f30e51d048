// What the codec carries and refuses, by this browser's engine and the platform of browsers. Left out: bounds and hostile-shapes, which
// ask our logic alone and take a processor half a minute.
import '../../conformance/codec.test.ts';
import '../../conformance/relearn.test.ts';
import '../../codec/battery.test.ts';
import '../../codec/damage.test.ts';
import '../../codec/errors.test.ts';
import '../../codec/fuzz.test.ts';
import '../../codec/json-only.test.ts';
import '../../codec/own-names.test.ts';
import '../../codec/round-trip.test.ts';
import '../../codec/sequence.test.ts';
import { offer } from './offer.ts';

await offer(0);
