import type { workersRpc } from '@baton/contracts';
import { AppError, badParameter, type Secret } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { RpcHandlers, ServedCall } from '@baton/rpc';
import { isSameSecret, publicKeyAt, type ServiceIdentity, signCertificate } from '@baton/trust';
import type { DB } from '../../store/tables.gen';
import { admitWorker } from '../commands/admit-worker';
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

/** WorkersService of proto/executions/v1. */
export function workersRpcHandlers(deps: Deps): RpcHandlers<typeof workersRpc.WorkersServiceDefinition> {
  return {
    registerWorker: async ({ workerId, publicKey, joinToken }, call) => {
      requireJoining(deps, joinToken, call);
      requireKey(workerId, publicKey);
      await admitWorker(deps.db, { workerId, publicKey });
      return { certificate: signCertificate(deps.identity(), { workerId, publicKey }) };
    },
    // TEMPORARY on this branch: the part agents-engine replaces it.
    registerAgent: async ({ workerId, publicKey }) => {
      requireKey(workerId, publicKey);
      await admitWorker(deps.db, { workerId, publicKey });
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
function requireKey(workerId: string, publicKey: string): void {
  if (workerId === '' || workerId.length > MAX_ID)
    throw badParameter('worker_id', `A worker id has 1 to ${MAX_ID} characters`);
  try {
    publicKeyAt(publicKey);
  } catch {
    throw badParameter('public_key', 'Expected an Ed25519 public key: 32 bytes in base64url');
  }
}

/** The worker may register again: its row was lost, for instance when a snapshot was restored. */
const unknown = (workerId: string): AppError =>
  new AppError('unauthorized_error', `The worker ${workerId} is not registered, or was revoked`);
