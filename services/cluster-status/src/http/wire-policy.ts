import type { ApiVersion } from '@baton/contracts';
import { legacyFields } from '@baton/contracts/http/legacy-fields';
import { answer, type HttpAnswer } from '@baton/http';
import type { MaintenanceBody } from '../commands/change-maintenance';

type Shown = Record<string, unknown>;

/** The differences between the wires. `service.ts` builds one policy and passes it to the routes. */
export interface WirePolicy {
  /** Returns a snapshot, given in the form of v3.1, in the form of this version of the API. */
  presentSnapshot(version: ApiVersion, row: Shown): Shown;
  /** Returns an execution of this service, given in the form of v3.1, in the form of this version of the API. */
  presentExecution(version: ApiVersion, execution: Shown): Shown;
  /** Answer to the delete of a snapshot. */
  deletedSnapshot(version: ApiVersion, row: Shown): HttpAnswer;
  /**
   * Default of "includes credentials" that a new snapshot shows when the request does not give it. No snapshot has credentials to
   * include.
   */
  includesCredentials: boolean;
  /** Parameters of the execution that makes a snapshot. */
  creationParameters(shown: Shown, body: Shown): Shown;
  /** Whether a restore request must set `force`. */
  needsForce: boolean;
  /** Answer to the activation of maintenance mode. */
  activated(body: MaintenanceBody): HttpAnswer;
  /** Whether this version of the API has its own form of the status. */
  hasLegacyStatus(version: ApiVersion): boolean;
}

const pick = (value: Shown, names: readonly string[]) =>
  Object.fromEntries(names.filter((name) => name in value).map((name) => [name, value[name]]));

/** Formats a time as v2.1 does: `YYYY-MM-DD hh:mm:ss.ffffff`. */
const naive = (iso: unknown): string => `${String(iso).slice(0, 10)} ${String(iso).slice(11, 23)}000`;

/** The wire of the specification. */
export const specWire: WirePolicy = {
  presentSnapshot(version, row) {
    if (version !== 'v2.1') return row;
    const shown = pick(row, legacyFields.snapshot);
    return 'created_at' in shown ? { ...shown, created_at: naive(shown.created_at) } : shown;
  },
  presentExecution(version, execution) {
    if (version !== 'v2.1') return execution;
    return { ...pick(execution, legacyFields.execution), created_at: naive(execution.created_at) };
  },
  deletedSnapshot: (version, { id }) =>
    version === 'v2.1'
      ? answer({ status: 200, body: { id, created_at: null, status: null, error: null } })
      : answer({ status: 204 }),
  includesCredentials: false,
  creationParameters: (shown) => shown,
  needsForce: false,
  activated: (body) => body,
  hasLegacyStatus: (version) => version === 'v2.1',
};
