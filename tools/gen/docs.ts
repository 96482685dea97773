// Writes docs/generated, docs/spec-coverage.md, deploy/rabbitmq and the lists in the READMEs of the services. All content comes
// from the code; the rows of the specification come from its documents if they are on this machine.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brokerPermissions } from './broker-permissions';
import { cliPage } from './cli-page';
import { clientOperations } from './client-operations';
import { configPage } from './config-page';
import { errorsPage } from './errors-page';
import { machinesPage } from './machines-page';
import { openApiText } from './openapi-text';
import { rbacPage } from './rbac-page';
import { serviceReadmes } from './service-readmes';
import { specCoveragePage, specRowsText } from './spec-coverage';

const root = join(__dirname, '../..');

async function main(): Promise<void> {
  const services = readdirSync(join(root, 'services')).filter((name) =>
    existsSync(join(root, 'services', name, 'src/config.ts')),
  );
  const rows = specRowsText(root);
  const openApi = await openApiText(root);
  const pages: [string, string][] = [
    ['docs/generated/errors.md', errorsPage()],
    ['docs/generated/config.md', await configPage(root, services)],
    ['docs/generated/machines.md', await machinesPage(root)],
    ['docs/generated/openapi.json', openApi],
    ['packages/client/src/operations.gen.ts', clientOperations(openApi)],
    ['docs/generated/rbac.md', rbacPage()],
    ['docs/generated/cli.md', cliPage()],
    ['deploy/rabbitmq/permissions.json', brokerPermissions()],
    ['docs/spec-coverage.md', specCoveragePage(rows)],
    ['test/contract/spec-rows.json', rows],
    ...(await serviceReadmes(root, services)),
  ];
  for (const folder of ['docs/generated', 'deploy/rabbitmq'])
    mkdirSync(join(root, folder), { recursive: true });
  for (const [name, text] of pages) {
    const file = join(root, name);
    if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
    writeFileSync(file, text);
    process.stdout.write(`${name} written\n`);
  }
}

// Exits explicitly, because a composed worker keeps a child process until this process ends.
void main().then(() => process.exit(0));
