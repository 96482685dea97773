import { addressOfWorker, type workersRpc } from '@baton/contracts';
import { AppError, badParameter, type Secret } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { RpcHandlers, ServedCall } from '@baton/rpc';
import { isSameSecret, publicKeyAt, type ServiceIdentity, signCertificate } from '@baton/trust';
import type { DB } from '../../store/tables.gen';
import { admitAgent, admitWorker } from '../commands/admit-worker';
import { keyOfWorker } from '../queries/key-of-worker';
import type { WorkerRegistry } from '../worker-registry';

interface Deps {
  db: Db<DB>;
  registry: WorkerRegistry;
  joinToken: Secret;
  /** Identity that signs the certificates of workers. */
  identity: () => ServiceIdentity;
}

const MAX_ID = 200;
/** A tenant and a node instance have up to 255 characters each, and some more for the future. */
const MAX_AGENT_ID = 700;
const AGENT_ID = /^agent:[^/\s]+\/\S+$/;

/** WorkersService of proto/executions/v1. */
export function workersRpcHandlers(deps: Deps): RpcHandlers<typeof workersRpc.WorkersServiceDefinition> {
  return {
    registerWorker: async ({ workerId, publicKey, joinToken }, call) => {
      requireJoining(deps, joinToken, call);
      requireWorkerId(workerId);
      requireKey(publicKey);
      await admitWorker(deps.db, { workerId, publicKey });
      return { certificate: signCertificate(deps.identity(), { workerId, publicKey }) };
    },
    registerAgent: async ({ workerId, publicKey }) => {
      requireAgentId(workerId);
      requireKey(publicKey);
      await admitAgent(deps.db, { workerId, publicKey });
      return { certificate: signCertificate(deps.identity(), { workerId, publicKey }) };
    },
    renewWorker: async ({ workerId }, { caller }) => {
      deps.registry.requireGood(caller);
      const publicKey = await keyOfWorker(deps.db.query, workerId);
      if (publicKey === null) throw unknown(workerId);
      return { certificate: signCertificate(deps.identity(), { workerId, publicKey }) };
    },
  };
}

/**
 * Checks that the caller may join: it is a child process of the manager, or it has the join token. @throws AppError
 * unauthorized_error
 */
function requireJoining(deps: Deps, token: string, { caller }: ServedCall): void {
  deps.registry.requireGood(caller);
  if (caller?.isChild === true || isSameSecret(token, deps.joinToken.expose())) return;
  throw new AppError('unauthorized_error', 'The join token of the worker is not the one that is configured');
}

/** @throws AppError bad_parameters_error */
function requireWorkerId(workerId: string): void {
  if (workerId === '' || workerId.length > MAX_ID)
    throw badParameter('worker_id', `A worker id has 1 to ${MAX_ID} characters`);
  if (addressOfWorker(workerId) !== null)
    throw badParameter(
      'worker_id',
      'Ids that begin with agent: belong to agents, which only the gateway registers',
    );
}

/** @throws AppError bad_parameters_error */
function requireAgentId(workerId: string): void {
  if (!AGENT_ID.test(workerId) || workerId.length > MAX_AGENT_ID)
    throw badParameter(
      'worker_id',
      `Expected agent:<tenant>/<node instance> with at most ${MAX_AGENT_ID} characters`,
    );
}

/** @throws AppError bad_parameters_error */
function requireKey(publicKey: string): void {
  try {
    publicKeyAt(publicKey);
  } catch {
    throw badParameter('public_key', 'Expected an Ed25519 public key: 32 bytes in base64url');
  }
}

/** The worker may register again: its row was lost, for instance when a snapshot was restored. */
const unknown = (workerId: string): AppError =>
  new AppError('unauthorized_error', `The worker ${workerId} is not registered, or was revoked`);
