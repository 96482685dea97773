import { createHash } from 'node:crypto';
import type { FindUser } from '@baton/contracts';
import {
  type Fate,
  type ImportContext,
  type Importer,
  joined,
  lost,
  metFate,
  roomFor,
  type Told,
  takeValid,
} from '@baton/import-part';
import { canonicalJson, isAppError } from '@baton/kernel';
import type { PrepareDeps } from '../commands/prepare-blueprint';
import { checkIcon } from '../domain/icon';
import { type UploadState, uploadMachine } from '../domain/upload.machine';
import { holdBlobs } from './blobs';
import {
  type BlueprintHere,
  blueprintsHere,
  deleteBlueprintRows,
  insertBlueprintRows,
} from './blueprints.sql';
import { type ChosenPlan, choosePlan } from './plan-choice';
import { type BlueprintRecord, blueprintRecord } from './records';

export interface BlueprintImportDeps extends Omit<PrepareDeps, 'parse'> {
  /** A parser whose imports also see what the transaction of the import has written. */
  parserIn(client: ImportContext['client']): PrepareDeps['parse'];
  findUser: FindUser;
}

const NO_OWNER = 'admin';

/** Blueprints with their archive, plan, labels and state. */
export function blueprintsImporter(deps: BlueprintImportDeps): Importer {
  return {
    type: 'blueprints',
    take: (context, records) =>
      takeValid(records, blueprintRecord, 'id', async (valid) => {
        await holdBlobs(
          deps,
          context.importId,
          valid.flatMap(({ archive }) => (archive ? [archive.digest] : [])),
        );
        const prepare = { ...deps, parse: deps.parserIn(context.client) };
        const fates = new Map<BlueprintRecord, Fate>();
        // Older ones first: a blueprint is younger than those that it imports.
        for (const record of [...valid].sort((a, b) =>
          (a.created_at ?? '').localeCompare(b.created_at ?? ''),
        ))
          fates.set(record, await takeBlueprint(deps, prepare, context, record));
        return valid.map((record) => fates.get(record)!);
      }),
  };
}

const ENDED: ReadonlySet<string> = new Set(uploadMachine.terminal);

async function takeBlueprint(
  deps: BlueprintImportDeps,
  prepare: PrepareDeps,
  context: ImportContext,
  given: BlueprintRecord,
): Promise<Fate> {
  const { id } = given;
  const { record, told: ofState } = endedRecord(given);
  if (record === null) return lost(id, 'state_unknown', 'its state is none that a blueprint has');
  const rows = await blueprintsHere(context, id);
  const own = rows.find((row) => row.tenant === context.tenant);
  const room = roomFor(
    id,
    record.visibility,
    rows.filter((row) => row !== own),
  );
  if ('fate' in room) return room.fate;
  const plan = await choosePlan(prepare, context, record);
  if (plan === null)
    return lost(id, 'plan_missing', 'the archive has neither a plan of it nor files that can be parsed');
  const icon = iconOf(record);
  const row: BlueprintHere = {
    tenant: context.tenant,
    visibility: room.visibility,
    state: record.state,
    main_file_name: plan.mainFile,
    description: record.description ?? null,
    is_hidden: record.is_hidden,
    error: record.error ?? null,
    digest: digestOf(record, plan),
    archive_digest: record.archive?.digest ?? null,
    labels: record.labels.map(({ key, value }) => `${key}=${value}`).sort(),
  };
  const fate: Fate = own
    ? {
        ...metFate(context, {
          id,
          met: canonicalJson(own),
          isSame: canonicalJson(own) === canonicalJson(row),
          what: 'a blueprint of this id',
        }),
      }
    : { id, fate: 'imported', ...joined(room.told, ofState, icon.told, plan.told) };
  if (fate.fate !== 'imported' && fate.fate !== 'replaced') return fate;
  if (own) await deleteBlueprintRows(context.client, context.tenant, id);
  const owner = record.created_by ?? NO_OWNER;
  const ids = await idsOf(deps, [owner, ...record.labels.map((label) => label.created_by ?? owner)]);
  await insertBlueprintRows(context.client, { id, row, record, plan, owner, ids, icon: icon.icon });
  return fate;
}

/** An upload that was under way ends with the old manager. */
function endedRecord(record: BlueprintRecord): {
  record: (BlueprintRecord & { state: UploadState }) | null;
  told: Told;
} {
  const { state } = record;
  if (ENDED.has(state)) return { record: record as BlueprintRecord & { state: UploadState }, told: {} };
  if (!(uploadMachine.states as readonly string[]).includes(state)) return { record: null, told: {} };
  const text = 'its upload had not ended when the archive was made: upload it again';
  return {
    record: { ...record, state: 'failed_uploading', error: record.error || text },
    told: { code: 'upload_not_ended', text },
  };
}

/** sha256 over archive and plan, as uploads have it: (id, digest) names the plan forever. */
function digestOf({ archive }: BlueprintRecord, { planJson }: ChosenPlan): string | null {
  if (planJson === null) return null;
  return createHash('sha256')
    .update(`${archive?.digest ?? ''}\n`)
    .update(planJson)
    .digest('hex');
}

function iconOf({ icon }: BlueprintRecord): { icon: Buffer | null; told: Told } {
  if (!icon) return { icon: null, told: {} };
  try {
    return { icon: checkIcon(Buffer.from(icon, 'base64')), told: {} };
  } catch (error) {
    if (!isAppError(error)) throw error;
    return { icon: null, told: { code: 'icon_dropped', text: error.message } };
  }
}

/** Ids of users by name; 0 for users who are not here (yet, in a rehearsal). */
async function idsOf(
  { findUser }: BlueprintImportDeps,
  names: readonly string[],
): Promise<Map<string, number>> {
  const ids = new Map<string, number>();
  for (const name of new Set(names)) ids.set(name, (await findUser(name))?.userId ?? 0);
  return ids;
}
