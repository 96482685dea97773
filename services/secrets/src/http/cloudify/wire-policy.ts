import type { WirePolicy } from '../wire-policy';

/** The wire of the original, which stores and returns only texts (docs/compatibility.md). */
export const cloudifyWire: WirePolicy = { skipsUnknown: true, answeredValue: 'stored' };
