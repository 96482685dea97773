import type { Client } from '@baton/client';

/** A manager that an operation works on. */
export interface Manager {
  readonly client: Client;
  readonly tenant: string;
  /** For texts. */
  readonly host: string;
  /** Another manager, or another tenant: its executions cannot be waited for by their end. */
  readonly isExternal: boolean;
}
