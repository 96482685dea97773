import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readAuthorFolder } from './author-folder';
import { documentBundled } from './bundle-plugin';

export interface WrittenDocs {
  /** Paths of the files. */
  page: string;
  schema: string;
}

/**
 * Writes `<name>.md` and `<name>.schema.json` about a plugin in TypeScript.
 * @param out folder to write; undefined: `dist` of the folder
 * @throws CommandFailure that says what is wrong and where
 */
export async function documentFolder(folder: string, out?: string): Promise<WrittenDocs> {
  const author = readAuthorFolder(folder);
  const { page, schema } = await documentBundled(author);
  const place = out === undefined ? join(author.path, 'dist') : resolve(out);
  mkdirSync(place, { recursive: true });
  const written = {
    page: join(place, `${author.name}.md`),
    schema: join(place, `${author.name}.schema.json`),
  };
  writeFileSync(written.page, page);
  writeFileSync(written.schema, `${JSON.stringify(schema, null, 2)}\n`);
  return written;
}
