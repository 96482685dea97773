/** The differences between the wires. `service.ts` builds one policy and passes it to the routes. */
export interface WirePolicy {
  /** Whether searches ignore unknown constraints, instead of refusing them. */
  skipsUnknown: boolean;
  /** Form of the value in the answer to a write: as it was written, or as the stored text. */
  answeredValue: 'written' | 'stored';
}

/** The wire of the specification. */
export const specWire: WirePolicy = { skipsUnknown: false, answeredValue: 'written' };
