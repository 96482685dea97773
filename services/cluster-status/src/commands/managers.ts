import { AppError, notFound } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { deleteManager, insertManager, type NewManager, setSyncNode } from '../store/managers.sql';
import type { DB } from '../store/tables.gen';

interface Deps {
  db: Db<DB>;
}

/** Adds a node of the cluster. @throws AppError conflict_error when a node with this hostname exists. */
export async function addManager({ db }: Deps, node: NewManager): Promise<void> {
  const isNew = await db.tx((tx) => insertManager(tx, node));
  if (!isNew) throw new AppError('conflict_error', `A manager with the hostname \`${node.hostname}\` exists`);
}

/** Sets the id that file replication uses for a node. @throws AppError not_found_error */
export async function changeSyncNode({ db }: Deps, hostname: string, id: string): Promise<void> {
  const isKnown = await db.tx((tx) => setSyncNode(tx, hostname, id));
  if (!isKnown) throw notFound('Manager', hostname);
}

/** Removes a node and the processes that reported from it. @throws AppError not_found_error */
export async function removeManager({ db }: Deps, hostname: string): Promise<void> {
  const isDeleted = await db.tx((tx) => deleteManager(tx, hostname));
  if (!isDeleted) throw notFound('Manager', hostname);
}
