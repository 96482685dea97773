import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createRedisCache } from '@baton/cache';
import { silentLog } from '@baton/kernel';
import { testUrls } from '@baton/testkit';
import pg from 'pg';
import { tgz } from '../../contract/world';
import { root } from '../../harness/processes';
import { upload } from '../../harness/session';
import { control, held, type Rig, type Row } from '../row';

const NAMES = { plain: 'attack.plain', evil: 'attack.evil' };
const typesOf = (name: string): string => `node_types: {${name}: {derived_from: cloudify.nodes.Root}}\n`;
const blueprint = (url: string, type: string): Buffer =>
  tgz({
    'blueprint.yaml': `tosca_definitions_version: cloudify_dsl_1_4\nimports: [cloudify/types/types.yaml, '${url}']\nnode_templates: {n: {type: ${type}}}\n`,
  });

/** Starts a service that requires TLS with the addresses that the services of this manager use: it must refuse them. */
function plainAddresses({ fleet, dist }: Rig): string | null {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(dist, 'services/identity/main.js')], {
    encoding: 'utf8',
    timeout: 20_000,
    env: {
      PATH: process.env.PATH,
      BATON_TLS: 'required',
      BATON_INTERNAL_KEY: 'the key of the attack',
      DATABASE_URL: fleet.databaseUrl,
      AMQP_URL: testUrls.amqp(),
      REDIS_URL: testUrls.redis(),
      BATON_HTTP_PORT: '0',
    },
  });
  const isRefused = ['DATABASE_URL', 'AMQP_URL', 'REDIS_URL'].every((name) =>
    (stdout + stderr).includes(name),
  );
  return status === 78 && isRefused ? null : `plain addresses: ${status} ${(stdout + stderr).slice(0, 400)}`;
}

/** Tries to replace the cached text of an import in Redis, as a neighbour. */
async function cachedImports({ fleet, clientOf, user }: Rig): Promise<string | null> {
  let asked = 0;
  const server = createServer((_request, response) => {
    asked++;
    response.end(typesOf(NAMES.plain));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/types.yaml`;
  const cache = createRedisCache({ url: testUrls.redis(), log: silentLog, prefix: `${fleet.namespace}:` });
  const key = `import:${createHash('sha256').update(url).digest('hex')}`;
  try {
    await cache.ping();
    await upload(clientOf(user), 'imports-1', blueprint(url, NAMES.plain));
    const kept = await cache.get(key);
    control(
      kept?.includes(NAMES.plain) === true && asked === 1,
      `the text is not in Redis (asked ${asked} times)`,
    );
    await upload(clientOf(user), 'imports-2', blueprint(url, NAMES.plain));
    control(asked === 1, 'the text in Redis is not used');
    for (const poison of [typesOf(NAMES.evil), kept!.replace(NAMES.plain, NAMES.evil)]) {
      await cache.set(key, poison, 60_000);
      const isBelieved = await upload(clientOf(user), 'imports-3', blueprint(url, NAMES.evil)).then(
        () => true,
        () => false,
      );
      if (isBelieved) return 'a text of a neighbour in Redis was believed';
    }
    return null;
  } finally {
    await cache.close();
    server.close();
  }
}

/** Checks the database user of each service: no service is the owner, and no service can read another's schema. */
async function loginsOf({ fleet }: Rig): Promise<string | null> {
  const client = new pg.Client({ connectionString: fleet.databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query(
      `select usename as name, usesuper as is_super from pg_stat_activity join pg_user using (usename)
       where datname = current_database() and pid <> pg_backend_pid() group by 1, 2`,
    );
    control(rows.length >= 6, `${rows.length} logins are connected`);
    const wrong = rows.filter(({ is_super, name }) => is_super || name === client.user);
    return wrong.length === 0 ? null : `logins with too many rights: ${wrong.map(({ name }) => name)}`;
  } finally {
    await client.end();
  }
}

/** Checks the files of Compose, Kubernetes and the images with their own tests. */
function deploymentFiles(): string | null {
  try {
    const jest = [
      join(root, 'node_modules/jest/bin/jest.js'),
      'test/manifests',
      '--silent',
      '--reporters=summary',
    ];
    execFileSync(process.execPath, jest, { cwd: root, stdio: 'pipe', timeout: 120_000 });
    return null;
  } catch (error) {
    return `deployment files: ${String((error as { stderr?: Buffer }).stderr).slice(-400)}`;
  }
}

export const row: Row = {
  name: '10',
  title: 'plain hops, texts of neighbours, logins, deployment files',
  modes: ['services'],
  async run(rig) {
    const found = [plainAddresses(rig), await cachedImports(rig), await loginsOf(rig), deploymentFiles()];
    const open = found.filter((one) => one !== null);
    return held(open.length === 0, open.length === 0 ? 'four ways refused' : open.join('; '));
  },
};
