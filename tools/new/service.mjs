import { isKebab } from './names.mjs';

const packageJson = (name) => ({
  name: `@baton/${name}`,
  version: '0.2.0',
  private: true,
  description: `What ${name} owns`,
  type: 'commonjs',
  main: './src/service.ts',
  types: './src/service.ts',
  exports: { '.': './src/service.ts' },
  dependencies: Object.fromEntries(
    ['kernel', 'contracts', 'http', 'rpc', 'service-runtime', 'postgres', 'broker']
      .map((p) => [`@baton/${p}`, 'workspace:*'])
      .concat([
        ['kysely', 'catalog:'],
        ['zod', 'catalog:'],
      ]),
  ),
  devDependencies: { '@baton/testkit': 'workspace:*' },
});

const migration = `-- expand
create table outbox (id uuid primary key, envelope jsonb not null, created_at timestamptz not null default app_now());
create table inbox (consumer text not null, message_id uuid not null, received_at timestamptz not null default app_now(), primary key (consumer, message_id));
`;

const main = `import { runService } from '@baton/service-runtime';
import { buildService, configSchema, serviceName } from './service';

void runService({ name: serviceName, configSchema, build: buildService });
`;

const config = `import { runtimeConfig } from '@baton/service-runtime';
import type { z } from 'zod';

/** Add variables with \`.extend({ BATON_...: envValue....describe('doc text') })\`. */
export const configSchema = runtimeConfig;

export type Config = Readonly<z.output<typeof configSchema>>;
`;

const service = (name) => `/** Composition of ${name}: the only file that wires handlers to what they need. */
import { type Infra, requireDb, type ServiceParts } from '@baton/service-runtime';
import type { Config } from './config';

export { type Config, configSchema } from './config';

export const serviceName = '${name}';

export function buildService(_config: Config, infra: Infra): ServiceParts {
  const db = requireDb<object>(infra);
  return {
    name: serviceName,
    routes: [],
    rpc: [],
    consumers: [],
    subscriptions: [],
    loops: [],
    checks: { tables: async () => void (await db.pool.query('select 1 from outbox limit 1')) },
  };
}
`;

const readme = (name) => `# ${name}

Purpose: one sentence.

Variables: [docs/generated/config.md](../../docs/generated/config.md).

## Tables, calls, messages, loops

<!-- begin: generated from src/service.ts by \`npm run gen\`; do not edit -->
<!-- end: generated -->
`;

/** Returns a service that starts, becomes ready and stops. */
export function newService(tree, name) {
  if (!isKebab(name)) return { error: 'the name must be kebab-case' };
  if (tree.exists(`services/${name}`)) return { error: `services/${name} exists` };
  const at = (path) => `services/${name}/${path}`;
  return {
    files: [
      { path: at('package.json'), text: `${JSON.stringify(packageJson(name), null, 2)}\n` },
      { path: at('README.md'), text: readme(name) },
      { path: at(`migrations/0001_${name.replaceAll('-', '_')}.sql`), text: migration },
      { path: at('src/main.ts'), text: main },
      { path: at('src/config.ts'), text: config },
      { path: at('src/service.ts'), text: service(name) },
    ],
    steps: [
      `packages/contracts/src/route.ts: add '${name}' to ServiceName`,
      `packages/service-runtime/src/config/ports.ts: give it ports`,
      'package.json of the new service: write its description; then `npm run gen` for its table types',
      'a service that is asked by rpc: proto/<name>/v1, a BATON_RPC_ variable in packages/service-runtime/src/config/runtime-config.ts and lifecycle/infra.ts',
      'apps/standalone and the deployment files: add it',
    ],
  };
}
