import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** One path of one endpoint row of the specification's documents. */
export interface SpecRow {
  /** Name of the document without its extension, and the line of the row. */
  document: string;
  line: number;
  version: 'v3.1' | 'v2.1';
  method: string;
  /** As written in the document: `/blueprints/{blueprint_id}`, with the query if the document shows one. */
  path: string;
}

/** The documents in the order of the specification. */
const DOCUMENTS = ['rest-v3.1-part1', 'rest-v3.1-part2', 'rest-v2.1'];
const ROW = /^\| (GET|PUT|POST|PATCH|DELETE) \| ([^|]+)/;
/** Names that the documents use for both kinds of filtered resources. */
const KINDS = ['deployments', 'blueprints'];

/** Returns the folder of the specification; null: it is not on this machine, so the committed rows are used. */
export function specFolder(root: string): string | null {
  const folder = join(resolve(root, process.env.BATON_SHARED ?? '../shared'), 'spec');
  return existsSync(join(folder, `${DOCUMENTS[0]}.md`)) ? folder : null;
}

/** Returns every endpoint row of the documents. A row with several paths, or with both kinds, becomes several entries. */
export function readSpecRows(folder: string): SpecRow[] {
  return DOCUMENTS.flatMap((document) =>
    readFileSync(join(folder, `${document}.md`), 'utf8')
      .split('\n')
      .flatMap((text, i) => {
        const row = ROW.exec(text);
        if (!row) return [];
        const version = document.includes('v2.1') ? ('v2.1' as const) : ('v3.1' as const);
        return pathsOf(row[2]!).map((path) => ({ document, line: i + 1, version, method: row[1]!, path }));
      }),
  );
}

function pathsOf(cell: string): string[] {
  return cell
    .replace(/\(.*\)/, '')
    .split(',')
    .map((path) => path.trim())
    .filter((path) => path.startsWith('/'))
    .flatMap((path) =>
      path.includes('{resource}') ? KINDS.map((kind) => path.replace('{resource}', kind)) : [path],
    );
}
