import { answer } from '@baton/http';
import type { WirePolicy } from '../wire-policy';

/** The wire of the original (docs/compatibility.md), whose later managers gave v2.1 the forms of v3.1. */
export const cloudifyWire: WirePolicy = {
  presentSnapshot: (_version, row) => row,
  presentExecution: (_version, execution) => ({
    ...execution,
    total_operations: 0,
    finished_operations: 0,
    parameters_p: null,
  }),
  deletedSnapshot: (_version, row) => answer({ status: 200, body: row }),
  // The original's code includes credentials by default. Its documents do not.
  includesCredentials: true,
  creationParameters: (shown, body) => ({
    ...shown,
    config: {},
    tempdir_path: body.tempdir_path ?? null,
    legacy: body.legacy ?? false,
    listener_timeout: body.listener_timeout ?? null,
  }),
  needsForce: true,
  // The original wraps the list in a second list, also when no execution remains.
  activated: (body) => answer({ body: { ...body, remaining_executions: [body.remaining_executions ?? []] } }),
  // reference/rest-api.md ch. 9
  hasLegacyStatus: () => false,
};
