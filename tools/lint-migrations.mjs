// Checks every migration by its mark (docs/checklists/new-table.md, docs/adr/0027-formats-carry-numbers.md). A step of `npm run
// check`; test/formats/migration-lint.test.ts proves that it can fail.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { judgeMigration, SMALL } from './migrations/rules.mjs';
import { root } from './run-steps.mjs';

const services = readdirSync(join(root, 'services')).filter((service) =>
  existsSync(join(root, 'services', service, 'migrations')),
);
let judged = 0;
const problems = services.flatMap((service) => {
  const folder = join('services', service, 'migrations');
  const names = readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.sql'))
    .sort();
  const texts = names.map((name) => readFileSync(join(root, folder, name), 'utf8'));
  judged += names.length;
  return names.flatMap((name, at) =>
    judgeMigration(texts[at], { before: texts.slice(0, at), small: SMALL[service] ?? [] }).map(
      ({ line, says }) => `${join(folder, name)}:${line}: ${says}`,
    ),
  );
});
console.log(problems.length === 0 ? `${judged} migrations keep what their marks say` : problems.join('\n'));
process.exit(problems.length === 0 ? 0 : 1);
