import type { ImportOptions, Principal } from '@baton/contracts';
import { AppError, newId, notFound } from '@baton/kernel';
import type { Tx } from '@baton/postgres';
import { requireArchive } from '../../commands/request-snapshot';
import { lockSnapshot, type StoredArchive } from '../../store/snapshots.sql';
import type { DB } from '../../store/tables.gen';
import { type ImportEvent, type ImportState, importMachine } from '../domain/import.machine';
import {
  changeImport,
  type ImportChanges,
  type ImportRow,
  insertImport,
  lockImport,
} from '../store/imports.sql';
import type { ImportDeps } from './import-deps';
import type { ArchiveKeys } from './import-keys';
import { sealKeys } from './import-keys';

/** @throws AppError forbidden_error */
export function requireAdmin(principal: Principal): void {
  if (principal.executionId !== '' || (!principal.isBootstrapAdmin && principal.role !== 'sys_admin'))
    throw new AppError('forbidden_error', 'Only an administrator of the manager may import an estate');
}

interface NewImport {
  options: ImportOptions;
  /** It is checked only when that is asked for. */
  isHeld: boolean;
}

/** Creates the import of an archive that is stored already; returns its id. @param archiveIn finds the archive; its errors pass */
export async function registerImport(
  deps: ImportDeps,
  principal: Principal,
  archiveIn: (tx: Tx<DB>) => Promise<StoredArchive>,
  { options, isHeld }: NewImport,
): Promise<string> {
  const id = newId();
  await deps.db.tx(async (tx) => {
    const archive = await archiveIn(tx);
    await insertImport(tx, {
      id,
      state: isHeld ? 'uploaded' : 'waiting',
      created_by: principal.username,
      archive_digest: archive.digest,
      archive_size: archive.size,
      options,
      run_id: newId(),
    });
  });
  if (!isHeld) deps.kick();
  return id;
}

/**
 * Returns the archive of a snapshot, which stays until the end of the transaction.
 * @param snapshot `tenant/id` @throws AppError not_found_error, snapshot_action_error
 */
export async function archiveOfSnapshot(tx: Tx<DB>, snapshot: string): Promise<StoredArchive> {
  const at = snapshot.indexOf('/');
  const [tenant, name] = [snapshot.slice(0, at), snapshot.slice(at + 1)];
  const found = await lockSnapshot(tx, tenant, name);
  if (!found) throw notFound('Snapshot', name);
  return requireArchive(found, 'import');
}

/** Checks the stored archive (again). Keys that are not given stay as they were. @throws AppError not_found_error, conflict_error */
export async function requestCheck(
  deps: ImportDeps,
  id: string,
  given: { options?: ImportOptions; keys: ArchiveKeys },
): Promise<void> {
  const sealed = await sealKeys(deps, id, given.keys);
  await change(deps, id, 'checkRequested', (row) => {
    if (!row.has_archive)
      throw new AppError('conflict_error', 'The archive was deleted after the import; upload it again');
    return {
      run_id: newId(),
      plan: null,
      report_digest: null,
      verdict: null,
      error: '',
      step: '',
      counts: [],
      deployments_with_agents: null,
      attempts: 0,
      ...(given.options ? { options: given.options } : {}),
      ...(sealed ? { sealed } : {}),
    };
  });
  deps.kick();
}

/** @throws AppError not_found_error; conflict_error for another report than that of the last check */
export async function requestApply(
  deps: ImportDeps,
  id: string,
  { reportDigest, isKept }: { reportDigest: string; isKept: boolean },
): Promise<void> {
  await change(deps, id, 'applyRequested', (row) => {
    if (row.report_digest !== reportDigest)
      throw new AppError(
        'conflict_error',
        `This is not the digest of the last report, which is ${row.report_digest}`,
        { field: 'report_digest' },
      );
    return { run_id: newId(), keep_archive: isKept, attempts: 0, error: '' };
  });
  deps.kick();
}

/** Deletes the archive, the report and what is staged; the loop does it. @throws AppError not_found_error, conflict_error */
export async function requestDeletion(deps: ImportDeps, id: string): Promise<void> {
  await change(deps, id, 'deleteRequested', () => ({ sealed: null }));
  deps.kick();
}

async function change(
  deps: ImportDeps,
  id: string,
  event: ImportEvent,
  changesOf: (row: ImportRow) => ImportChanges,
): Promise<void> {
  await deps.db.tx(async (tx) => {
    const row = await lockImport(tx, id);
    if (!row || row.state === 'deleting') throw notFound('Import', id);
    const next = importMachine.next(row.state, event);
    if (!next) throw wrongState(id, row.state, event);
    await changeImport(tx, id, { state: next, ...changesOf(row) });
  });
}

const VERBS: Partial<Record<ImportEvent, string>> = {
  checkRequested: 'checked',
  applyRequested: 'applied',
  deleteRequested: 'deleted',
};

const wrongState = (id: string, state: ImportState, event: ImportEvent): AppError =>
  new AppError('conflict_error', `Import ${id} is ${state} and cannot be ${VERBS[event]} now`, { state });
