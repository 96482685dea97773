import { cloudifyRules } from './cloudify/wire-rules';
import { chooseWire, type Wire } from './wire';
import { specRules, type WireRules } from './wire-rules';

/** What this wire changes for every route. Asked while routes are compiled, not while they are served. */
export const rulesOf = (wire: Wire): WireRules =>
  chooseWire(wire, { spec: specRules, cloudify: cloudifyRules });
