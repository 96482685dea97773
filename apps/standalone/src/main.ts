import { CONFIG_EXIT_CODE, ConfigError, limitHeapGrowth, loadConfig } from '@baton/service-runtime';
import { standaloneConfig } from './config';
import { runDemo } from './demo';
import { type Manager, startManager } from './manager';
import type { IsolationNote } from './worker-processes';

/** A worker says it when it has started; the rest of the greeting waits no longer than this. */
const ISOLATION_MS = 10_000;

const USAGE = `usage: baton-standalone [--demo [--once]]
  --demo  run the bundled example from upload to outputs, then keep serving
  --once  with --demo: uninstall the example, stop and exit with 0 when every step did what it should
`;

async function main(args: readonly string[]): Promise<number> {
  const unknown = args.find((arg) => arg !== '--demo' && arg !== '--once');
  if (unknown !== undefined) {
    process.stderr.write(`unknown argument ${unknown}\n${USAGE}`);
    return 64;
  }
  const manager = await startManager(loadConfig(standaloneConfig, process.env), process.env);
  limitHeapGrowth();
  void greet(manager);
  let stopping: Promise<void> | null = null;
  const stop = () => (stopping ??= manager.stop());
  const stopped = new Promise<number>((resolve) => {
    const onSignal = () =>
      void stop().then(
        () => resolve(0),
        () => resolve(1),
      );
    process.once('SIGINT', onSignal);
    process.once('SIGTERM', onSignal);
  });
  if (!args.includes('--demo')) return await stopped;
  const isOnce = args.includes('--once');
  const demo = runDemo(manager, { isOnce, environment: process.env }).then(
    () => 0,
    (error: unknown) => {
      process.stderr.write(`demo: ${(error as Error).message}\n`);
      return 1;
    },
  );
  const code = await Promise.race([demo, stopped]);
  if (!isOnce && code === 0) return await stopped;
  await stop();
  return code;
}

async function greet({ url, adminPassword, isPasswordNew, home, workers }: Manager): Promise<void> {
  const isolation = await workers.isolation(ISOLATION_MS);
  const lines = [
    `Baton is ready.`,
    `  API      ${url}/api/v3.1`,
    `  API docs ${url}/api/docs`,
    `  console  ${url}/`,
    `  data     ${home.dir}`,
    ...isolationLines(isolation),
  ];
  if (isPasswordNew && adminPassword)
    lines.push(`  login    admin / ${adminPassword.expose()}   (kept in ${home.adminPasswordFile})`);
  else if (adminPassword)
    lines.push(`  login    admin, password in ${home.adminPasswordFile} or BATON_ADMIN_PASSWORD`);
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** What operations are kept from, and what not. */
function isolationLines(note: IsolationNote | null): string[] {
  if (note === null) return [];
  const open = note.notEnforced.map((what) => `           not enforced: ${what}`);
  const mark = note.name === 'none' ? 'WARNING  operations are not isolated: ' : 'isolated ';
  return [`  ${mark}${note.description}`, ...open];
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof ConfigError ? error.message : (error as Error).stack}\n`);
    process.exit(error instanceof ConfigError ? CONFIG_EXIT_CODE : 1);
  },
);
