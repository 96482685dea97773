/** What differs between the wires. `service.ts` builds one and gives it to the routes. */
export interface WirePolicy {
  /** Whether searches pass over constraints that they do not know, instead of refusing them. */
  skipsUnknown: boolean;
  /** Which form of the value a write answers: as it was written, or the text that is stored. */
  answeredValue: 'written' | 'stored';
}

/** The wire of the specification. */
export const specWire: WirePolicy = { skipsUnknown: false, answeredValue: 'written' };
