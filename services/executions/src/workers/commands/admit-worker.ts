import { AppError } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { DB } from '../../store/tables.gen';
import { registerWorker } from '../store/workers.sql';

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
  if (became === 'revoked')
    throw new AppError('unauthorized_error', `The worker ${worker.workerId} was revoked`, {
      reason: 'revoked',
    });
  if (became === 'taken')
    throw new AppError('conflict_error', `Another process lives under the worker id ${worker.workerId}`);
}
