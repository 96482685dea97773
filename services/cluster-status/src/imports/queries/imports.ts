import type { ListPage, ListQuery } from '@baton/contracts';
import { notFound } from '@baton/kernel';
import type { ImportDeps } from '../commands/import-deps';
import { findImport, type ImportRow, importPage } from '../store/imports.sql';
import { type ReportLine, reportPage } from '../store/report.sql';

/** @throws AppError not_found_error */
export async function importById(db: ImportDeps['db']['query'], id: string): Promise<ImportRow> {
  const row = /^[0-9a-f-]{36}$/.test(id) ? await findImport(db, id) : null;
  if (!row || row.state === 'deleting') throw notFound('Import', id);
  return row;
}

/** An import as clients see it: no key, and no name of a blob. */
export function presentImport(row: ImportRow): Record<string, unknown> {
  const {
    source,
    archive_digest,
    archive_size,
    run_id: _,
    plan: __,
    sealed: ___,
    attempts: ____,
    ...shown
  } = row;
  return {
    ...shown,
    source_version: source === '' ? null : source,
    archive_sha256: archive_digest,
    archive_bytes: archive_size,
    counts: row.counts.map((counts) => ({ ...counts, tenant: null })),
  };
}

export async function listImports(
  db: ImportDeps['db']['query'],
  list: ListQuery,
): Promise<ListPage<Record<string, unknown>>> {
  const { items, total } = await importPage(db, list);
  return { items: items.map(presentImport), total };
}

/** Lines of the report of an import. @throws AppError not_found_error */
export async function readReport(
  db: ImportDeps['db']['query'],
  id: string,
  wanted: { size: number; offset: number; kind?: string },
): Promise<ListPage<ReportLine>> {
  await importById(db, id);
  return await reportPage(db, id, wanted);
}
