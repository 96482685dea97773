// docs/where.md answers each question with one place: the file must exist and contain the named function.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '..', '..');
const page = readFileSync(join(root, 'docs/where.md'), 'utf8');
const rows = page.split('\n').filter((line) => /^\| .*\?/.test(line));

test('there are at least twelve questions', () => {
  expect(rows.length).toBeGreaterThanOrEqual(12);
});

test.each(rows)('%s', (row) => {
  const places = [...row.matchAll(/`([\w./-]+\/[\w.-]+)(?:#(\w+))?`/g)];
  expect(places).toHaveLength(1);
  const [, file, name] = places[0]!;
  const path = join(root, file!);
  if (!existsSync(path)) throw new Error(`docs/where.md names ${file}, which does not exist`);
  if (name === undefined) return;
  const declared = new RegExp(`(?:function\\*?|const|class|def) ${name}\\b`);
  if (!declared.test(readFileSync(path, 'utf8'))) throw new Error(`${file} declares no ${name}`);
});
