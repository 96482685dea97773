/** Which plan an imported blueprint gets: that of the archive, or one of a new parse. */
import { type ImportContext, joined, type Told } from '@baton/import-part';
import {
  foldJson,
  isAppError,
  isJsonObject,
  type Json,
  type JsonObject,
  readFoldedJson,
} from '@baton/kernel';
import { locateMainFile, type PrepareDeps, parseStored, unpackStored } from '../commands/prepare-blueprint';
import { ArchiveRefused } from '../domain/entry-rules';
import { planDifference } from '../domain/plan-difference';
import { PLAIN_PLAN_CHARS } from '../domain/plan-limits';
import { type PlanUse, planUses } from '../domain/plan-uses';
import { UploadFailure } from '../domain/upload-failure';
import { spoolBlob } from './blobs';
import type { BlueprintRecord } from './records';

export interface ChosenPlan {
  planJson: string | null;
  requirements: Json;
  uses: PlanUse[];
  mainFile: string;
  told: Told;
}

/** What a new parse of the archive gives. */
type Parse = { plan: JsonObject; planJson: string; requirements: Json; mainFile: string } | { told: Told };

const LONGEST = 500;
const told = (code: string, text: string): Told => ({ code, text: text.slice(0, LONGEST) });

/** Null: there is no plan at all. Failed uploads have none and need none. */
export async function choosePlan(
  deps: PrepareDeps,
  context: Pick<ImportContext, 'options' | 'tenant'>,
  record: BlueprintRecord,
): Promise<ChosenPlan | null> {
  const stored = record.plan ?? null;
  const mainFile = record.main_file_name ?? '';
  const ofStored = (more: Told): ChosenPlan => ({
    planJson: stored === null ? null : foldJson(stored, PLAIN_PLAN_CHARS).text,
    requirements: record.requirements ?? {},
    uses: stored === null ? [] : planUses(stored),
    mainFile,
    told: more,
  });
  if (record.state !== 'uploaded') return ofStored({});
  if (!record.archive)
    return (
      stored &&
      ofStored(told('archive_missing', 'the archive of the manager has not its files: only its plan is here'))
    );
  const unpacked = await unpackFault(deps, record.archive);
  if (unpacked) return stored && ofStored(unpacked);
  if (context.options.blueprints === 'stored' && stored) return ofStored({});
  const parse = await parsePlan(deps, context, record);
  if ('told' in parse) return stored && ofStored(parse.told);
  const ofParse = (more: Told): ChosenPlan => ({ ...parse, uses: planUses(parse.plan), told: more });
  if (stored === null)
    return ofParse(told('plan_parsed', 'the archive has no plan of it; it was parsed again'));
  const difference = planDifference(stored, parse.plan);
  if (difference === null) return ofParse(told('plan_same', 'a new parse gives the plan of the archive'));
  const text = `a new parse gives another plan, first at ${difference}`;
  if (context.options.blueprints === 'reparse')
    return ofParse(told('plan_differs', `${text}; the new one is kept`));
  return ofStored(told('plan_differs', `${text}; that of the archive is kept`));
}

/** Unpacks the archive into the tables of files, beside the transaction: what nobody uses is swept. Null: it went well. */
async function unpackFault(
  deps: PrepareDeps,
  { digest, size }: { digest: string; size: number },
): Promise<Told | null> {
  try {
    const archive = await spoolBlob(deps.blobs, digest, deps.limits.maxArchiveBytes);
    try {
      await unpackStored(deps, { digest, size }, archive);
      return null;
    } finally {
      await archive.dispose();
    }
  } catch (error) {
    return told('archive_unreadable', `its files are not served: ${messageOf(error)}`);
  }
}

async function parsePlan(
  deps: PrepareDeps,
  { tenant }: Pick<ImportContext, 'tenant'>,
  record: BlueprintRecord,
): Promise<Parse> {
  const archive = record.archive!;
  try {
    const mainFile = await locateMainFile(deps, archive.digest, record.main_file_name ?? '');
    // As its owner saw it, and with all plugins of the tenant: private ones of others were usable by administrators only.
    const importer = { tenant, username: record.created_by ?? '', isAdministrator: true };
    const parsed = await parseStored(deps, archive, mainFile, importer);
    const plan = readFoldedJson(parsed.planJson);
    return {
      plan,
      planJson: parsed.planJson,
      requirements: isJsonObject(plan.requirements) ? plan.requirements : {},
      mainFile,
    };
  } catch (error) {
    return { told: joined(told('plan_does_not_parse', `a new parse fails: ${messageOf(error)}`)) };
  }
}

/** The message of what is wrong with the archive; faults of the manager go on. */
function messageOf(error: unknown): string {
  if (error instanceof UploadFailure || error instanceof ArchiveRefused) return error.message;
  if (
    isAppError(error) &&
    error.code !== 'internal_server_error' &&
    error.code !== 'service_unavailable_error'
  )
    return error.message;
  throw error;
}
