import { AppError } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { DB } from '../../store/tables.gen';
import { registerAgent, registerWorker } from '../store/workers.sql';

/**
 * Registers a worker under its public key. A repeat is accepted with the same key, or when the former worker is dead. One
 * statement; may be repeated.
 * @throws AppError unauthorized_error for a revoked worker; conflict_error while another process lives under the id.
 */
export async function admitWorker(
  db: Db<DB>,
  worker: { workerId: string; publicKey: string },
): Promise<void> {
  const became = await registerWorker(db.query, worker);
  if (became === 'revoked') throw revoked(worker.workerId);
  if (became === 'taken')
    throw new AppError('conflict_error', `Another process lives under the worker id ${worker.workerId}`);
}

/**
 * Registers an agent, for which the gateway vouches, under the key of its newest stream. One statement; may be repeated.
 * @throws AppError unauthorized_error for a revoked one
 */
export async function admitAgent(db: Db<DB>, agent: { workerId: string; publicKey: string }): Promise<void> {
  if (!(await registerAgent(db.query, agent))) throw revoked(agent.workerId);
}

const revoked = (workerId: string): AppError =>
  new AppError('unauthorized_error', `The worker ${workerId} was revoked`, { reason: 'revoked' });
