import { AppError, isAppError } from '@baton/kernel';
import { PART_DEADLINE_MS } from '../../adapters/snapshot-parts';
import { noteLooseArchive } from '../../store/snapshots.sql';
import { IMPORT_ORDER } from '../domain/owners';
import { advanceImport, deleteImportRow, type ImportRow } from '../store/imports.sql';
import { checkArchive, discardRun, requestOf } from './check-import';
import type { ImportDeps, ImportVoice } from './import-deps';

/**
 * Checks once more and goes on only with the same report: the archive, the options, and all objects here that records meet are those
 * that the administrator has seen. What is staged stays for `applyAll`. @throws AppError conflict_error
 */
export async function prepareApply(deps: ImportDeps, row: ImportRow, voice: ImportVoice): Promise<void> {
  const { plan, ...found } = await checkArchive(deps, row, voice);
  const at = { id: row.id, from: 'preparing' as const, owner: deps.instanceId };
  if (found.report_digest === row.report_digest) {
    await advanceImport(deps.db.query, at, { ...found, state: 'applying', plan, attempts: 0 });
    return;
  }
  await discardRun(deps, row.run_id);
  await advanceImport(deps.db.query, at, {
    ...found,
    state: 'refused',
    step: '',
    error:
      'What is here has changed since the check; this is the new report. Check again, read it, and apply that',
  });
}

/**
 * Lets every service write its records, one after the other, the referred first. Each call is idempotent by the run: after a crash the
 * loop repeats all of them. A refusal of a later service ends the import as failed; what the earlier ones have written stays, and counts
 * as `same` in the next check.
 */
export async function applyAll(deps: ImportDeps, row: ImportRow, voice: ImportVoice): Promise<void> {
  for (const [i, service] of IMPORT_ORDER.entries()) {
    await voice.say(`Applying in ${service}`);
    try {
      await deps.imports[service].apply(requestOf(row, row.plan?.[service] ?? ''), {
        deadlineMs: PART_DEADLINE_MS,
      });
    } catch (error) {
      // A fault of the service or on the way may pass; what the service refuses it refuses again.
      if (!isAppError(error) || error.entry.retryable || error.entry.http >= 500) throw error;
      const done = IMPORT_ORDER.slice(0, i);
      throw new AppError(
        error.code,
        `${service} did not take its part: ${error.message}. ${done.length === 0 ? 'Nothing was written' : `Written: ${done.join(', ')}`}; check again and apply the rest`,
      );
    }
  }
  await discardRun(deps, row.run_id);
  const mayGo = !row.keep_archive;
  await deps.db.tx(async (tx) => {
    const isDone = await advanceImport(
      tx,
      { id: row.id, from: 'applying', owner: deps.instanceId },
      {
        state: 'applied',
        step: 'Applied',
        error: '',
        ...(mayGo ? { has_archive: false, sealed: null } : {}),
      },
    );
    if (isDone && mayGo) await noteLooseArchive(tx, row.archive_digest, true);
  });
}

/** Removes an import that is being deleted, with its archive and report. What was imported stays. */
export async function removeImport(deps: ImportDeps, row: ImportRow): Promise<void> {
  await discardRun(deps, row.run_id);
  await deps.db.tx(async (tx) => {
    if (row.has_archive) await noteLooseArchive(tx, row.archive_digest, true);
    await deleteImportRow(tx, row.id);
  });
}
