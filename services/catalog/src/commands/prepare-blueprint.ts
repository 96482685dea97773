/** Turns an archive into a plan: store, unpack, parse. All kinds of uploads share these steps. */
import { createHash } from 'node:crypto';
import type { BlobStore } from '@baton/blob-store';
import type { LabelPair, Principal } from '@baton/contracts';
import { type Clock, diskFailure, isAppError, type Json } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { Spool } from '../archive/spool';
import { unpackArchive } from '../archive/unpack';
import type { ArchiveLimits } from '../domain/archive-limits';
import { ArchiveRefused } from '../domain/entry-rules';
import { findMainFile } from '../domain/main-file';
import type { PlanUse } from '../domain/plan-uses';
import {
  archiveFailure,
  type BlueprintDiagnostic,
  invalidBlueprint,
  UploadFailure,
} from '../domain/upload-failure';
import type { UploadTexts } from '../domain/upload-texts';
import { insertArchive, listPaths, noteLooseBlobs, touchArchive } from '../store/archives.sql';
import type { ParsedBlueprint } from '../store/blueprints.sql';
import type { DB } from '../store/tables.gen';

/** The user of the upload: decides which plugins and blueprints the imports may reach. */
export type Importer = Pick<Principal, 'tenant' | 'username'> & {
  isAdministrator: boolean;
  /** Versions of plugins by package name; they override the versions in the imports. */
  versions?: ReadonlyMap<string, string>;
};

export interface ParsedPlan {
  planJson: string;
  requirements: Json;
  description: string | null;
  labels: LabelPair[];
  uses: PlanUse[];
}

/** Parses the unpacked archive `digest`; returns diagnostics when it has errors. */
export type BlueprintParser = (request: {
  archiveDigest: string;
  mainFile: string;
  importer: Importer;
}) => Promise<{ ok: true; value: ParsedPlan } | { ok: false; error: BlueprintDiagnostic[] }>;

export interface PrepareDeps {
  db: Db<DB>;
  blobs: BlobStore;
  clock: Clock;
  limits: ArchiveLimits;
  /** Most bytes that a tenant may keep; null: any number. */
  storageLimit: (tenant: string) => number | null;
  parse: BlueprintParser;
  texts: UploadTexts;
}

export interface Prepared extends ParsedBlueprint {
  labels: LabelPair[];
  uses: PlanUse[];
}

/** Unpacks a stored archive into its rows; an archive that is unpacked already costs nothing. @throws UploadFailure */
export async function unpackStored(
  deps: PrepareDeps,
  stored: { digest: string; size: number },
  archive: Spool,
): Promise<void> {
  if (await touchArchive(deps.db.query, stored.digest)) return;
  const large: string[] = [];
  const sink = {
    put: async (stream: NodeJS.ReadableStream) => {
      const blob = await deps.blobs.put(stream as never);
      large.push(blob.digest);
      return blob;
    },
  };
  try {
    const unpacked = await unpackArchive(archive, deps.limits, sink, deps.clock);
    await deps.db.tx((tx) => insertArchive(tx, stored.digest, stored.size, unpacked));
  } catch (error) {
    if (error instanceof ArchiveRefused) throw archiveFailure(error, deps.texts);
    if (isAppError(error)) throw error;
    const disk = diskFailure(error);
    if (disk) throw disk;
    throw new UploadFailure('notStored', 'The content of the archive could not be stored', {}, [], {
      cause: error,
    });
  } finally {
    await noteLooseBlobs(deps.db.query, large);
  }
}

/** Returns the main file of an unpacked archive. @throws UploadFailure naming the files that exist */
export async function locateMainFile(deps: PrepareDeps, digest: string, requested: string): Promise<string> {
  const mainFile = findMainFile(requested, await listPaths(deps.db.query, digest));
  if (mainFile.ok) return mainFile.value;
  const { fileName, expected, nearest } = mainFile.error;
  const message = deps.texts.mainFile(fileName, requested !== '');
  const details = { field: 'application_file_name', expected, ...(nearest === null ? {} : { nearest }) };
  throw new UploadFailure('archiveRefused', message, details);
}

/** Parses an unpacked archive into its plan. @throws UploadFailure */
export async function parseStored(
  deps: PrepareDeps,
  stored: { digest: string; size: number },
  mainFile: string,
  importer: Importer,
): Promise<Prepared> {
  const parsed = await deps.parse({ archiveDigest: stored.digest, mainFile, importer });
  if (!parsed.ok) throw invalidBlueprint(parsed.error);
  const { planJson, requirements, description, labels, uses } = parsed.value;
  return {
    mainFileName: mainFile,
    archiveDigest: stored.digest,
    archiveSize: stored.size,
    planJson,
    description,
    labels,
    uses,
    requirementsJson: JSON.stringify(requirements),
    digest: createHash('sha256').update(`${stored.digest}\n`).update(planJson).digest('hex'),
  };
}
