import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { withTemporaryFolder } from '@baton/blob-store';
import { openArchive } from '@baton/cloudify-archive';
import type { importsRpc } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import { fileSource } from '@baton/zip-reader';
import { PART_DEADLINE_MS } from '../../adapters/snapshot-parts';
import type { TypeCounts, Verdict } from '../domain/import.machine';
import { IMPORT_ORDER, type ImportService } from '../domain/owners';
import { ReportCounts, reportDigest, verdictOf } from '../domain/report-counts';
import type { ApplyPlan, ImportRow } from '../store/imports.sql';
import type { ReportLine } from '../store/report.sql';
import { findClosure } from './find-closure';
import type { ImportDeps, ImportVoice } from './import-deps';
import { openKeys } from './import-keys';
import { describeArchive, EstateReader, type ReadEstate } from './read-estate';
import { ReportBook } from './report-book';

export interface CheckResult {
  format: string;
  source: string;
  counts: TypeCounts[];
  report_digest: string;
  verdict: Verdict;
  deployments_with_agents: number;
  plan: ApplyPlan;
  tenants: string[];
}

/**
 * Reads the archive, stages its records in the services, rehearses all of them and writes the report. What is staged stays, for an
 * apply; the caller discards it. May be repeated after a crash at any point. @throws AppError archive_refused with the reason
 */
export async function checkArchive(
  deps: ImportDeps,
  row: ImportRow,
  voice: ImportVoice,
): Promise<CheckResult> {
  if (!row.has_archive)
    throw new AppError('conflict_error', 'The archive was deleted after the import; upload it again');
  await discardRun(deps, row.run_id);
  const book = await ReportBook.begin(deps.db, row.id);
  const counts = new ReportCounts();
  return await withTemporaryFolder(async (folder) => {
    const path = join(folder, 'archive.zip');
    await voice.say(`Fetching the archive, ${row.archive_size} bytes`);
    await pipeline(await deps.blobs.open(row.archive_digest), createWriteStream(path, { mode: 0o600 }), {
      signal: voice.signal,
    });
    const archive = await openArchive(await fileSource(path));
    try {
      const found = await describeArchive(archive, book);
      const { options } = row;
      const keys = await openKeys(deps, row);
      const closure = options.deployments ? await findClosure(archive, options, keys, { book, voice }) : null;
      const request = { runId: row.run_id, createdBy: row.created_by, options, keys, closure, folder };
      const read = await new EstateReader(deps, archive, request, { book, counts, voice }).read();
      const { format, source } = found;
      const plan = await rehearseAll(deps, { ...row, source }, { book, counts, voice });
      return {
        format,
        source,
        ...concluded(row.archive_digest, row, counts, plan, read),
      };
    } finally {
      await archive.close();
      await book.close();
    }
  });
}

function concluded(
  archive: string,
  row: ImportRow,
  counts: ReportCounts,
  plan: ApplyPlan,
  read: ReadEstate,
): Omit<CheckResult, 'format' | 'source'> {
  const all = counts.close();
  return {
    counts: all,
    plan,
    report_digest: reportDigest({ archive, options: row.options, met: plan, counts: all }),
    verdict: verdictOf(all, read),
    deployments_with_agents: read.deploymentsWithAgents,
    tenants: read.tenants,
  };
}

interface Rehearsal {
  book: ReportBook;
  counts: ReportCounts;
  voice: ImportVoice;
}

async function rehearseAll(deps: ImportDeps, row: ImportRow, to: Rehearsal): Promise<ApplyPlan> {
  const plan: ApplyPlan = {};
  for (const service of IMPORT_ORDER) {
    await to.voice.say(`Rehearsing in ${service}`);
    const outcome = await deps.imports[service].rehearse(requestOf(row, ''), {
      deadlineMs: PART_DEADLINE_MS,
      signal: to.voice.signal,
    });
    plan[service] = outcome.metDigest;
    for (const counts of outcome.types) to.counts.addOutcome(counts);
    for (const text of outcome.notes)
      await to.book.add({ kind: 'note', code: 'effect', id: service, text: text });
    await takeFates(deps, service, row.run_id, to);
  }
  return plan;
}

export const requestOf = (row: ImportRow, metDigest: string): importsRpc.ImportRequest => ({
  importId: row.run_id,
  jobId: row.id,
  optionsJson: JSON.stringify(row.options),
  metDigest,
  source: row.source,
});

/** Copies the lines of a service into the report. */
async function takeFates(
  deps: ImportDeps,
  service: ImportService,
  runId: string,
  { book, voice }: Rehearsal,
): Promise<void> {
  const pieces = deps.imports[service].listFates(
    { importId: runId },
    { deadlineMs: PART_DEADLINE_MS, signal: voice.signal },
  );
  for await (const { lines } of pieces)
    for (const line of Buffer.from(lines).toString('utf8').split('\n'))
      if (line !== '') await book.add(lineOf(JSON.parse(line) as Partial<ReportLine>));
}

function lineOf(fate: Partial<ReportLine>): ReportLine {
  const kind = fate.code?.startsWith('plan_') ? 'plan' : 'fate';
  return { ...fate, kind, text: fate.text ?? '' };
}

/** Forgets what the services have staged for a check or an apply; their rows stay. */
export async function discardRun(deps: Pick<ImportDeps, 'imports'>, runId: string): Promise<void> {
  for (const service of IMPORT_ORDER) await deps.imports[service].discardImport({ importId: runId });
}
