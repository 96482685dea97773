/** Parses blueprints in the CPU pool; in each round it sends the files of the imports that the thread needs. */
import { type ArchiveFiles, type ArchiveTask, type Fetched, type Need, readNeed } from '@baton/dsl';
import { type Clock, systemClock } from '@baton/kernel';
import { CpuLimitError, type CpuPool } from '@baton/service-runtime';
import type { BlueprintParser, Importer } from '../commands/prepare-blueprint';
import { UploadFailure } from '../domain/upload-failure';
import type { ParseReply, ThreadTask } from '../parse/protocol';

export interface ImportSources {
  /** Texts of the YAML files and all paths of an unpacked archive. */
  archive(digest: string): Promise<ArchiveFiles>;
  file(digest: string, path: string): Promise<string | null>;
  url(url: string): Promise<Fetched>;
  plugin(need: Need & { kind: 'plugin' }, importer: Importer): Promise<Fetched>;
  blueprint(id: string, importer: Importer): Promise<Fetched>;
}

export interface ParserDeps {
  pool: Pick<CpuPool, 'run'>;
  sources: ImportSources;
  clock?: Clock;
}

/** Most rounds: the depth of imports that themselves have imports. */
const MAX_ROUNDS = 20;
const MAX_NEEDS = 500;

async function obtain(
  sources: ImportSources,
  need: Need,
  digest: string,
  importer: Importer,
): Promise<Fetched> {
  switch (need.kind) {
    case 'url':
      return sources.url(need.url);
    case 'file': {
      const text = await sources.file(digest, need.path);
      return text === null ? null : { kind: 'text', text };
    }
    case 'plugin':
      return sources.plugin(need, importer);
    case 'blueprint':
      return sources.blueprint(need.id, importer);
  }
}

async function runLimited(pool: Pick<CpuPool, 'run'>, task: ArchiveTask): Promise<ParseReply> {
  try {
    return await pool.run<ParseReply>({ kind: 'blueprint', task } satisfies ThreadTask);
  } catch (error) {
    if (!(error instanceof CpuLimitError)) throw error;
    throw new UploadFailure('notParsed', `Failed parsing blueprint - parsing ${error.message}`, {}, [], {
      cause: error,
    });
  }
}

export function createBlueprintParser({ pool, sources, clock = systemClock }: ParserDeps): BlueprintParser {
  return async ({ archiveDigest, mainFile, importer }) => {
    const task: ArchiveTask = {
      mainFile,
      files: await sources.archive(archiveDigest),
      fetched: {},
      nowMs: clock.now(),
    };
    // A main file whose name does not end in .yaml or .yml is read separately.
    task.files.texts[mainFile] ??= (await sources.file(archiveDigest, mainFile)) ?? '';
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const reply = await runLimited(pool, task);
      if (reply.needs.length === 0) {
        if (reply.plan === null) return { ok: false, error: reply.diagnostics };
        const { json: planJson, ...rest } = reply.plan;
        return { ok: true, value: { planJson, ...rest } };
      }
      if (Object.keys(task.fetched).length + reply.needs.length > MAX_NEEDS) break;
      const found = await Promise.all(
        reply.needs.map((key) => obtain(sources, readNeed(key), archiveDigest, importer)),
      );
      for (const [i, key] of reply.needs.entries()) task.fetched[key] = found[i] ?? null;
    }
    throw new UploadFailure('notParsed', 'Failed parsing blueprint - it imports too much from elsewhere');
  };
}
