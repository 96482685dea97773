/** The archive for sites without a network: installed by an ordinary user, upgraded, gone back from, and removed. */

import { createHash } from 'node:crypto';
import { appendFileSync, cpSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Door, demand, type Ended, type Shell } from './shell';
import { checkUnit } from './unit';

/** Seconds that the installer waits for a manager that does not become ready. */
const WAIT_S = '30';

export async function* archiveDoors(shell: Shell): AsyncGenerator<Door> {
  const out = join(shell.folder, 'bundle');
  const home = shell.ownFolder('person');
  const prefix = join(home, '.local/lib/baton');
  const env = { HOME: home, TMPDIR: shell.ownFolder('temporary') };
  let folder = '';
  let port = '';
  const install = (from: string, args: readonly string[] = []): Promise<Ended> =>
    shell.run('sh', [join(from, 'install.sh'), ...args], { cwd: home, env, isUnprivileged: true });
  const mustInstall = async (from: string, args: readonly string[] = []): Promise<string> => {
    const { code, said } = await install(from, args);
    demand(code === 0, `install.sh ${args.join(' ')} ended with ${code}:\n${said}`);
    return said;
  };
  const baton = (...args: string[]): Promise<string> =>
    shell.must(join(home, '.local/bin/baton'), args, {
      cwd: home,
      isUnprivileged: true,
      env: {
        ...env,
        BATON_URL: `http://127.0.0.1:${port}`,
        BATON_USERNAME: 'admin',
        BATON_PASSWORD: readFileSync(join(home, '.baton/admin.password'), 'utf8').trim(),
      },
    });

  yield {
    name: 'npm run bundle: a folder with programs, licences, digests and an installer',
    pass: async () => {
      folder = (await shell.tool('tools/bundle.mjs', ['--out', out, '--folder'])).trim().split('\n').at(-1)!;
      for (const file of [
        'SHA256SUMS',
        'sbom.cdx.json',
        'manager/THIRD-PARTY.md',
        'manager/LICENSE',
        'baton.service',
        'manager/dist/agent/index.json',
      ])
        demand(existsSync(join(folder, file)), `${file} is missing`);
    },
  };
  yield {
    name: 'an archive that was changed, or that holds more than it lists, is refused and leaves nothing',
    pass: async () => {
      const changed = copyOf(folder, 'changed');
      appendFileSync(join(changed, 'manager/dist/apps/cli/main.js'), '// changed');
      const added = copyOf(folder, 'added');
      writeFileSync(join(added, 'manager/dist/apps/cli/more.js'), '// added');
      for (const one of [changed, added]) {
        const { code, said } = await install(one);
        demand(code === 1 && said.includes('nothing was installed'), `ended with ${code}: ${said}`);
        demand(!existsSync(prefix), `${prefix} is there`);
      }
    },
  };
  yield {
    name: 'install.sh, as an ordinary user: the manager is ready, folders are closed to others',
    pass: async () => {
      port = await shell.freePort();
      await mustInstall(folder, ['--port', port]);
      demand((statSync(join(home, '.baton')).mode & 0o77) === 0, 'the data folder is open to others');
      demand((statSync(join(prefix, 'settings.env')).mode & 0o77) === 0, 'the settings are open to others');
      const { code } = await install(folder, ['--port', port]);
      demand(code === 1, 'a second install did not say that Baton is installed');
    },
  };
  yield {
    name: 'the unit: its paths are there, and the manager that it starts ends at its signal with all processes, in its time',
    pass: () => checkUnit(shell, { home, prefix, env, port }),
  };
  yield {
    name: 'the example, by the installed command, from upload to outputs',
    pass: async () => {
      const example = join(prefix, 'current/manager/examples/hello');
      await baton('secrets', 'create', 'hello_signature', '--value', 'doors');
      await baton('blueprints', 'upload', example, '--id', 'hello');
      await baton('deployments', 'create', 'hello', '--blueprint', 'hello', '-i', 'audience=doors');
      await baton('executions', 'start', 'install', '--deployment', 'hello');
      demand((await baton('deployments', 'outputs', 'hello')).includes('http://'), 'no output');
      await baton('executions', 'start', 'uninstall', '--deployment', 'hello');
    },
  };
  yield {
    name: 'an upgrade makes a snapshot, keeps all data, and leaves no copy of them',
    pass: async () => {
      const next = release(copyOf(folder, 'next'), '9.0.0');
      const said = await mustInstall(next, ['--upgrade', '--wait', WAIT_S]);
      const snapshot = /Snapshot: (\S+\.zip)/.exec(said)?.[1];
      demand(snapshot && statSync(snapshot).size > 1_000, `no snapshot: ${said}`);
      demand((await baton('deployments', 'list', '--json')).includes('"hello"'), 'the deployment is gone');
      demand(!existsSync(join(home, '.baton.before-upgrade')), 'the copy of the data is still there');
    },
  };
  yield {
    name: 'an upgrade that does not become ready goes back to the old release and its data',
    pass: async () => {
      const broken = copyOf(folder, 'broken');
      writeFileSync(join(broken, 'manager/dist/apps/standalone/main.js'), 'process.exit(1);\n');
      const { code, said } = await install(release(broken, '9.9.9'), ['--upgrade', '--wait', '5']);
      demand(code === 1 && said.includes('The old release runs again'), `ended with ${code}: ${said}`);
      demand((await baton('deployments', 'list', '--json')).includes('"hello"'), 'the deployment is gone');
    },
  };
  yield {
    name: 'install.sh --remove keeps the data, --remove --purge does not',
    pass: async () => {
      await mustInstall(folder, ['--remove']);
      demand(!existsSync(join(prefix, 'releases')), 'programs are still there');
      demand(existsSync(join(home, '.baton/postgres')), 'the data are gone');
      await mustInstall(folder, ['--port', port]);
      demand((await baton('deployments', 'list', '--json')).includes('"hello"'), 'the deployment is gone');
      await mustInstall(folder, ['--remove', '--purge']);
      demand(!existsSync(join(home, '.baton')) && !existsSync(prefix), 'something is left');
    },
  };

  function copyOf(from: string, name: string): string {
    const copy = join(out, name);
    cpSync(from, copy, { recursive: true, verbatimSymlinks: true });
    return copy;
  }
}

/** Makes another release of a folder: its own version, and digests that fit its files. */
function release(folder: string, version: string): string {
  writeFileSync(join(folder, 'VERSION'), `${version}\n`);
  const sums = join(folder, 'SHA256SUMS');
  const lines = readFileSync(sums, 'utf8').trimEnd().split('\n');
  const own = ['VERSION', 'manager/dist/apps/standalone/main.js'];
  const digest = (path: string): string =>
    createHash('sha256')
      .update(readFileSync(join(folder, path)))
      .digest('hex');
  const renewed = lines.map((line) => {
    const path = own.find((one) => line.endsWith(`  ${one}`));
    return path ? `${digest(path)}  ${path}` : line;
  });
  writeFileSync(sums, `${renewed.join('\n')}\n`);
  return folder;
}
