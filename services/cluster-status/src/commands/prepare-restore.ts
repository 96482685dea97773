import { AppError } from '@baton/kernel';
import { PART_DEADLINE_MS } from '../adapters/snapshot-parts';
import type { ZipReader } from '../adapters/zip-reader';
import {
  blobEntry,
  EXPORT_ORDER,
  entryKind,
  type Manifest,
  type SnapshotService,
  tableEntry,
} from '../domain/snapshot-archive';
import type { RestoreOptions, SwitchPlan } from '../domain/snapshot-job';
import type { JobVoice, SnapshotDeps } from './snapshot-deps';
import { readLines, verifyArchive } from './verify-archive';

export interface RestoreRequest {
  restoreId: string;
  executionId: string;
  options: RestoreOptions;
}

/** Most bytes of rows in one call; a single larger row is sent alone. */
const BATCH_BYTES = 512 * 1024;
const DIGESTS_A_CALL = 500;

/**
 * Does the part of a restore that changes nothing: verifies the archive, stages its rows and files, rehearses the switch of every
 * service. May be started again at any time. Returns the plan for the switch.
 * @throws AppError snapshot_action_error with the reason when the restore is refused.
 */
export async function prepareRestore(
  deps: SnapshotDeps,
  zip: ZipReader,
  request: RestoreRequest,
  voice: JobVoice,
): Promise<SwitchPlan> {
  const manifest = await verifyArchive(deps, zip, voice.signal);
  await voice.say(
    `The archive is whole and sealed under a key of this manager: made at ${manifest.created_at}, canonical hash ${manifest.hash}`,
  );
  await refuseUnlessEmpty(deps, request, voice);
  await discardAll(deps, request.restoreId);
  await stageBlobs(deps, zip, manifest, voice.signal);
  const plan: SwitchPlan = {};
  for (const service of EXPORT_ORDER) {
    const part = manifest.services[service];
    if (!part) continue;
    await stageTables(deps, zip, request.restoreId, service, part.tables, voice.signal);
    plan[service] = {
      restoreId: request.restoreId,
      executionId: request.executionId,
      createdByExecution: manifest.execution_id,
      schemaVersion: part.schema_version,
      tables: part.tables,
    };
  }
  for (const service of EXPORT_ORDER) await rehearse(deps, service, plan, manifest, voice);
  return plan;
}

async function refuseUnlessEmpty(
  deps: SnapshotDeps,
  { options }: RestoreRequest,
  voice: JobVoice,
): Promise<void> {
  const held: string[] = [];
  for (const service of EXPORT_ORDER) {
    const { contents } = await deps.parts[service].describe({});
    held.push(...contents.filter(({ rows }) => rows > 0).map(({ table, rows }) => `${rows} ${table}`));
  }
  if (held.length === 0) return;
  const message = `This is not a clean manager, it holds ${held.join(', ')}`;
  if (!options.isForced)
    throw new AppError('snapshot_action_error', `${message}; to replace it all, restore with force`);
  await voice.say(`${message}: all of it is replaced`);
}

async function stageTables(
  deps: SnapshotDeps,
  zip: ZipReader,
  restoreId: string,
  service: SnapshotService,
  tables: readonly { name: string }[],
  signal: AbortSignal,
): Promise<void> {
  for (const { name: table } of tables) {
    let batch = 0;
    for await (const rows of batchesOf(readLines(zip, tableEntry(service, table)))) {
      signal.throwIfAborted();
      await deps.parts[service].stage({ restoreId, table, batch: batch++, rows }, { signal });
    }
  }
}

async function* batchesOf(lines: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void> {
  const newline = Buffer.from('\n');
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const line of lines) {
    if (held.length > 0 && bytes + line.length > BATCH_BYTES) {
      yield Buffer.concat(held);
      held = [];
      bytes = 0;
    }
    if (held.length > 0) held.push(newline);
    held.push(line);
    bytes += line.length + 1;
  }
  if (held.length > 0) yield Buffer.concat(held);
}

/** Stores the blobs of the archive. Each is marked before it is stored, so that the files of an unfinished restore are swept. */
async function stageBlobs(
  deps: SnapshotDeps,
  zip: ZipReader,
  manifest: Manifest,
  signal: AbortSignal,
): Promise<void> {
  const digests = [...zip.entries.keys()].flatMap((name) => {
    const kind = entryKind(name);
    return kind?.kind === 'blob' ? [kind.digest] : [];
  });
  const owners = EXPORT_ORDER.filter((service) => (manifest.services[service]?.blobs ?? 0) > 0);
  for (let at = 0; at < digests.length; at += DIGESTS_A_CALL) {
    const some = digests.slice(at, at + DIGESTS_A_CALL);
    for (const owner of owners) await deps.parts[owner].noteBlobs({ digests: some });
    for (const digest of some) {
      signal.throwIfAborted();
      const stored = await deps.blobs.put(await zip.read(blobEntry(digest)));
      if (stored.digest !== digest) throw new Error(`blob ${digest} changed while it was read`);
    }
  }
}

async function rehearse(
  deps: SnapshotDeps,
  service: SnapshotService,
  plan: SwitchPlan,
  manifest: Manifest,
  voice: JobVoice,
): Promise<void> {
  if (!plan[service]) return;
  const { notes, replaced } = await deps.parts[service].rehearse(plan[service], {
    deadlineMs: PART_DEADLINE_MS,
    signal: voice.signal,
  });
  const rows = new Map(replaced.map((table) => [table.table, table.rows]));
  const changes = manifest.services[service]!.tables.filter(
    (table) => table.rows > 0 || (rows.get(table.name) ?? 0) > 0,
  ).map((table) => `${table.name} ${rows.get(table.name) ?? 0} -> ${table.rows}`);
  await voice.say(`Rehearsed ${service}, rows now -> then: ${changes.join(', ') || 'none'}`);
  for (const note of notes) await voice.say(note);
}

/** Deletes the staged rows and files of a restore in every service. */
export async function discardAll(deps: SnapshotDeps, restoreId: string): Promise<void> {
  for (const service of EXPORT_ORDER) await deps.parts[service].discard({ restoreId });
}
