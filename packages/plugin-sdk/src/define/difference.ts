import type { Json } from '@baton/kernel';

/** A value that differs from the declared or stored one. */
export interface Difference {
  path: string;
  stored: Json;
  present: Json;
}
