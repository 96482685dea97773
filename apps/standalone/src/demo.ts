import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Manager } from './manager';

/** Id of the blueprint and the deployment of the demo. */
const ID = 'hello';

/**
 * Runs the bundled example with the same commands that a person would type, from upload to outputs, and reads the page that the
 * example made. With `isOnce` the example is uninstalled and deleted afterwards. The commands run with `environment`, overridden by
 * the address and the login of `manager`.
 * @throws Error naming the step that failed.
 */
export async function runDemo(
  manager: Manager,
  options: { isOnce: boolean; environment: NodeJS.ProcessEnv },
): Promise<void> {
  const baton = cli(manager, options.environment);
  const example = exampleFolder();
  await baton('secrets', 'create', 'hello_signature', '--value', 'the Baton demo', '--update');
  await baton('blueprints', 'upload', example, '--id', ID);
  await baton('deployments', 'create', ID, '--blueprint', ID, '-i', 'audience=Baton');
  await baton('executions', 'start', 'install', '--deployment', ID);
  await baton('deployments', 'outputs', ID);
  const url = await outputUrl(manager);
  const page = await fetch(url);
  if (page.status !== 200) throw new Error(`${url} answered ${page.status}`);
  const title = /<h1>(.*)<\/h1>/.exec(await page.text())?.[1];
  if (!title?.includes('Baton')) throw new Error(`${url} shows another page: ${title}`);
  say(`\n${url} answers HTTP 200: ${title}`);
  if (!options.isOnce) {
    say(`Baton goes on serving at ${manager.url}; Ctrl-C stops it.`);
    return;
  }
  await baton('executions', 'start', 'uninstall', '--deployment', ID);
  if (await answers(url)) throw new Error(`${url} still answers after uninstall`);
  await baton('deployments', 'delete', ID);
  await baton('blueprints', 'delete', ID);
  await baton('secrets', 'delete', 'hello_signature');
  say('\nThe example was installed, read, uninstalled and deleted.');
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Returns a function that runs the baton command against this manager; its output goes to ours. */
function cli(manager: Manager, environment: NodeJS.ProcessEnv): (...args: string[]) => Promise<void> {
  const main = cliMain();
  const env = cliEnvironment(manager, environment);
  const loader = main.endsWith('.ts') ? ['--import', 'tsx'] : [];
  return (...args) =>
    new Promise((resolve, reject) => {
      say(`\n$ baton ${args.map((arg) => (/[\s"']/.test(arg) ? JSON.stringify(arg) : arg)).join(' ')}`);
      const child = spawn(process.execPath, [...loader, main, ...args], {
        env,
        stdio: ['ignore', 'inherit', 'inherit'],
      });
      child.once('error', reject);
      child.once('exit', (code) =>
        code === 0 ? resolve() : reject(new Error(`baton ${args.join(' ')} ended with ${code}`)),
      );
    });
}

/** The environment of the baton command for this manager, as its administrator. */
export const cliEnvironment = (manager: Manager, environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...environment,
  BATON_URL: manager.url,
  BATON_USERNAME: 'admin',
  BATON_PASSWORD: manager.adminPassword?.expose() ?? '',
  BATON_TENANT: 'default_tenant',
});

export function cliMain(): string {
  const here = dirname(require.main?.filename ?? __filename);
  return [join(here, '../cli/main.js'), join(here, '../../cli/src/main.ts')].find(existsSync)!;
}

function exampleFolder(): string {
  const here = dirname(require.main?.filename ?? __filename);
  const found = ['../../../examples/hello', '../../examples/hello']
    .map((path) => join(here, path))
    .find(existsSync);
  if (!found) throw new Error('the bundled example is not there');
  return found;
}

async function outputUrl(manager: Manager): Promise<string> {
  const credentials = Buffer.from(`admin:${manager.adminPassword?.expose() ?? ''}`).toString('base64');
  const response = await fetch(`${manager.url}/api/v3.1/deployments/${ID}/outputs`, {
    headers: { Authorization: `Basic ${credentials}`, Tenant: 'default_tenant' },
  });
  const { outputs } = (await response.json()) as { outputs?: { url?: string } };
  if (!outputs?.url) throw new Error('the deployment has no output `url`');
  return outputs.url;
}

async function answers(url: string): Promise<boolean> {
  try {
    await fetch(url, { signal: AbortSignal.timeout(2_000) });
    return true;
  } catch {
    return false;
  }
}
