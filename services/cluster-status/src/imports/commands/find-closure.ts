import { type Archive, ArchiveRefused } from '@baton/cloudify-archive';
import type { ImportOptions } from '@baton/contracts';
import type { Closure } from '../domain/choice';
import { Needs } from '../domain/needs';
import type { ImportVoice } from './import-deps';
import type { ArchiveKeys } from './import-keys';
import { openRecords } from './open-records';
import type { ReportBook } from './report-book';

/**
 * Finds what the chosen deployments need, in a reading of the archive before the one that stages. Memory: the references of all
 * deployments of the archive. @throws ArchiveRefused where a chosen deployment is not in the archive, or needs one that is not chosen
 */
export async function findClosure(
  archive: Archive,
  options: ImportOptions,
  keys: ArchiveKeys,
  { book, voice }: { book: ReportBook; voice: ImportVoice },
): Promise<Closure> {
  await voice.say('Finding what the chosen deployments need');
  const needs = new Needs();
  for await (const record of await openRecords(archive, { options, keys })) {
    // Executions and events refer to deployments; deployments do not need them.
    if (record.type === 'executions') continue;
    voice.signal.throwIfAborted();
    needs.see(record);
  }
  const { closure, problems } = needs.closureOf(options.deployments!, options.with_dependencies);
  for (const text of problems) await book.add({ kind: 'reference', code: 'dependency_missing', text });
  if (problems.length > 0)
    throw new ArchiveRefused('layout', `the choice of deployments is not complete: ${problems[0]}`);
  return closure;
}
