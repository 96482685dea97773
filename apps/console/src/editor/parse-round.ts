/** One round of the parsing worker. Pure, so that it can be tested without a worker. */
import { type ArchiveTask, type BlueprintOutline, type Diagnostic, parseArchive } from '@baton/dsl';
import type { ParseResult } from './parse-messages';

/** Maximum of drawn nodes: more would only slow the page down. */
const MOST_NODES = 3000;

/** Parses the archive. `outline`: the names that completion needs. */
export async function parseRound(
  task: ArchiveTask,
): Promise<{ result: ParseResult; outline: BlueprintOutline | null }> {
  if (task.files.texts[task.mainFile] === undefined)
    return {
      result: { needs: [], diagnostics: [noMainFile(task)], nodes: null, isValid: false },
      outline: null,
    };
  const { needs, diagnostics: found, outline } = await parseArchive(task, { hasOutline: true });
  const diagnostics = found.map(softened);
  const nodes = outline?.nodes
    .slice(0, MOST_NODES)
    .map(({ name, type, instances, relationships, file, line }) => ({
      id: name,
      type,
      capabilities: { scalable: { properties: { default_instances: instances } } },
      relationships: relationships.map((one) => ({
        type: one.type,
        target_id: one.target,
        type_hierarchy: one.hierarchy,
      })),
      file,
      line,
    }));
  return {
    result: {
      needs,
      diagnostics,
      nodes: nodes ?? null,
      isValid: diagnostics.every(({ severity }) => severity !== 'error'),
    },
    outline,
  };
}

/** Turns an import error of an external URL into a warning: only the manager fetches it, so its validity is unknown here. */
const softened = (d: Diagnostic): Diagnostic =>
  d.kind === 'import_failed' && typeof d.value === 'string' && /^(https?|ftp):/i.test(d.value)
    ? { ...d, severity: 'warning' }
    : d;

const noMainFile = ({ mainFile, files }: ArchiveTask): Diagnostic => ({
  severity: 'error',
  kind: 'import_failed',
  code: null,
  className: '',
  message: `${mainFile} does not exist in the archive`,
  file: null,
  line: null,
  column: null,
  path: '',
  expected: Object.keys(files.texts).slice(0, 10).join(', '),
});
