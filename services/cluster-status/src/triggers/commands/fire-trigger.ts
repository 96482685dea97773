import { parseJson } from '@baton/http';
import { AppError, type Clock, type Json, Secret } from '@baton/kernel';
import type { TriggerPeers } from '../adapters/trigger-peers';
import { useOfTrigger } from '../domain/kept-secret';
import { mapParameters } from '../domain/map-parameters';
import { requestIdOf, type TriggerCall, verifiedId } from '../domain/verify-call';
import {
  type CalledTrigger,
  findByAddress,
  isOverRate,
  noteCall,
  noteExecution,
  pruneCalls,
  type TriggerRow,
} from '../store/triggers.sql';
import type { TriggerDeps } from './change-trigger';

export interface FireDeps extends TriggerDeps {
  peers: TriggerPeers;
  clock: Clock;
}

const MAX_BODY_BYTES = 256 * 1024;
const RATE = { limit: 60, periodMs: 60_000 };
/** What a user needs to start an execution by himself. */
const NEEDED = 'execution_start';
const KEEP_MS = 7 * 86_400_000;
const PRUNE_BATCH = 1_000;
/** Signs nothing: an unknown address takes the same steps as a known one. */
const NOBODYS = new Secret(`whsec_${Buffer.alloc(32).toString('base64')}`);

/**
 * Starts the workflow of a trigger for a signed request, and returns the id of the execution. The same request gives the same
 * execution. *Crash before the start:* the sender repeats; its request is noted under the same request id. *Crash after it:* executions
 * answers the repetition with the execution that it has.
 * @throws AppError unauthorized_error, the same for an unknown address and a wrong signature; too_many_requests_error;
 * bad_parameters_error for a body without the named values; forbidden_error when the creator may not start it any more.
 */
export async function fireTrigger(
  deps: FireDeps,
  address: string,
  request: Pick<TriggerCall, 'headers' | 'body'>,
): Promise<string> {
  if (Buffer.byteLength(request.body) > MAX_BODY_BYTES)
    throw new AppError('payload_too_large_error', `The body is larger than ${MAX_BODY_BYTES} bytes`, {
      field: 'body',
      expected: `at most ${MAX_BODY_BYTES} bytes`,
    });
  const { row, messageId } = await genuine(deps, address, request);
  const requestId = requestIdOf(address, messageId);
  await noteOnce(deps, row, messageId, requestId);
  const isMapped = Object.keys(row.parameters).length > 0;
  const body = isMapped ? (parseJson(request.body) as Json) : null;
  const parameters = mapParameters(body, { parameters: row.parameters, fixed: row.fixed_parameters });
  const executionId = await start(deps, row, requestId, parameters);
  await noteExecution(deps.db.query, { address, message_id: messageId }, executionId);
  return executionId;
}

/** Deletes old calls. @returns `again` when the batch was full. */
export async function pruneTriggerCalls({ db }: Pick<TriggerDeps, 'db'>): Promise<{ again: boolean }> {
  return { again: (await pruneCalls(db.query, KEEP_MS, PRUNE_BATCH)) >= PRUNE_BATCH };
}

async function genuine(
  deps: FireDeps,
  address: string,
  request: Pick<TriggerCall, 'headers' | 'body'>,
): Promise<{ row: TriggerRow; messageId: string }> {
  const row = await findByAddress(deps.db.query, address);
  const call = { ...request, nowMs: deps.clock.now() };
  const messageId = row === null ? verifiedId('standard', NOBODYS, call) : await idOf(deps, row, call);
  if (row === null || messageId === null)
    throw new AppError(
      'unauthorized_error',
      'The request is not signed as a trigger at this address needs it',
    );
  return { row, messageId };
}

/** Returns the id of a request that a valid secret has signed: the current one, or the former one during its overlap; else null. */
async function idOf({ seals }: FireDeps, row: CalledTrigger, call: TriggerCall): Promise<string | null> {
  const use = useOfTrigger(row.address);
  for (const sealed of [row.sealed, row.former_sealed]) {
    const opened = sealed && (await seals.open({ tenant: row.tenant, use }, sealed));
    const id = opened && verifiedId(row.scheme, opened.text, call);
    if (id) return id;
  }
  return null;
}

async function noteOnce(
  deps: FireDeps,
  row: TriggerRow,
  messageId: string,
  requestId: string,
): Promise<void> {
  const { address, tenant } = row;
  await deps.db.tx(async (tx) => {
    const isNew = await noteCall(tx, { address, message_id: messageId, tenant, request_id: requestId });
    if (!isNew || !(await isOverRate(tx, address, RATE.limit, RATE.periodMs))) return;
    throw new AppError('too_many_requests_error', `The trigger takes ${RATE.limit} requests a minute`, {
      expected: `at most ${RATE.limit} requests in ${RATE.periodMs / 1_000} seconds`,
    });
  });
}

/** Starts the execution with the rights that the creator of the trigger has now. */
async function start(
  { peers }: FireDeps,
  row: TriggerRow,
  requestId: string,
  parameters: Parameters<TriggerPeers['start']>[0]['parameters'],
): Promise<string> {
  const { tenant, created_by: createdBy, deployment_id: deploymentId, workflow_id: workflowId } = row;
  const rights = await peers.rightsOf(createdBy, tenant);
  if (rights === null || !(rights.isAdministrator || rights.permissions.includes(NEEDED)))
    throw new AppError('forbidden_error', 'Who made the trigger may not start executions any more', {
      permission: NEEDED,
    });
  return await peers.start({ tenant, requestId, createdBy, deploymentId, workflowId, parameters, rights });
}
