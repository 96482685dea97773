import type { Client } from '@baton/client';

/** A manager that an operation works on. */
export interface Manager {
  readonly client: Client;
  readonly tenant: string;
  /** For messages. */
  readonly host: string;
  /** Another manager or another tenant: its executions do not report their end. */
  readonly isExternal: boolean;
}
