import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { jsonSchema } from './json-schema';
import { languageReference } from './reference';

/** Writes the files generated from the tables of the language; with `--check` only reports whether they would change. */
const root = join(__dirname, '../../..');
const outputs: [string, string][] = [
  [join(root, 'docs/dsl.md'), languageReference()],
  [join(root, 'docs/generated/blueprint.schema.json'), `${JSON.stringify(jsonSchema(), null, 2)}\n`],
];

const isCheck = process.argv.includes('--check');
let stale = 0;
for (const [file, text] of outputs) {
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
  stale++;
  if (isCheck) process.stderr.write(`${relative(root, file)} is not up to date\n`);
  else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    process.stdout.write(`${relative(root, file)} written\n`);
  }
}
process.exitCode = isCheck && stale > 0 ? 1 : 0;
