import { cloudifyRules } from './cloudify/wire-rules';
import { chooseWire, type Wire } from './wire';
import { specRules, type WireRules } from './wire-rules';

/** Returns the rules of the wire for every route. Called when routes are compiled, not when they are served. */
export const rulesOf = (wire: Wire): WireRules =>
  chooseWire(wire, { spec: specRules, cloudify: cloudifyRules });
