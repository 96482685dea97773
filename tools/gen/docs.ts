// Writes docs/generated: config.md, errors.md, machines.md, openapi.json. Everything in them comes from the code.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configPage } from './config-page';
import { errorsPage } from './errors-page';
import { machinesPage } from './machines-page';
import { openApiText } from './openapi-text';

export const root = join(__dirname, '../..');
const out = join(root, 'docs/generated');

async function main(): Promise<void> {
  const services = readdirSync(join(root, 'services')).filter((name) =>
    existsSync(join(root, 'services', name, 'src/config.ts')),
  );
  const pages: [string, string][] = [
    ['errors.md', errorsPage()],
    ['config.md', await configPage(root, services)],
    ['machines.md', await machinesPage(root)],
    ['openapi.json', await openApiText(root)],
  ];
  mkdirSync(out, { recursive: true });
  for (const [name, text] of pages) {
    const file = join(out, name);
    if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
    writeFileSync(file, text);
    process.stdout.write(`docs/generated/${name} written\n`);
  }
}

void main();
