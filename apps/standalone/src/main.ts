import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { createLogger, limitHeapGrowth, loadConfig, logRejections } from '@baton/service-runtime';
import { offerBundledPlugins } from './bundled-plugins';
import { standaloneConfig } from './config';
import { runDemo } from './demo';
import { mistakeOf } from './first-mistakes';
import { type Manager, startManager } from './manager';
import type { IsolationNote } from './worker-processes';

/** Longest wait of the greeting for the isolation, which a worker reports when it has started. */
const ISOLATION_MS = 10_000;

const USAGE = `usage: baton-standalone [--demo [--once]]
  --demo  run the bundled example from upload to outputs, then keep serving
  --once  with --demo: uninstall the example, stop and exit with 0 when every step did what it should
`;
/** EX_SOFTWARE of sysexits: an unexpected fault. */
const FAULT_EXIT_CODE = 70;
const FAULT_STOP_LIMIT_MS = 8_000;

/** The requested end: by a signal, or because the parent process is gone. */
class Asked extends Error {}

/**
 * Returns a signal that aborts at the first request to end. A second signal ends the process at once: the exit handler signals the
 * embedded PostgreSQL (manager.ts), and workers see that their channel is closed.
 */
function wishToEnd(): AbortSignal {
  const asked = new AbortController();
  const onSignal = (signal: NodeJS.Signals): void => {
    if (asked.signal.aborted) process.exit(128 + constants.signals[signal]);
    asked.abort(new Asked(signal));
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  if (!isHangupIgnored()) process.on('SIGHUP', onSignal);
  // A parent program holds a channel to this process (npm start): without the parent, nobody would end it.
  if (process.connected) process.once('disconnect', () => asked.abort(new Asked('the parent is gone')));
  return asked.signal;
}

/** Whether `nohup` ignores SIGHUP; our own handler would undo that. */
function isHangupIgnored(): boolean {
  try {
    const ignored = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    return ignored !== undefined && (BigInt(`0x${ignored}`) & 1n) === 1n;
  } catch {
    return false;
  }
}

async function main(args: readonly string[], ending: AbortSignal): Promise<number> {
  const unknown = args.find((arg) => arg !== '--demo' && arg !== '--once');
  if (unknown !== undefined) {
    process.stderr.write(`unknown argument ${unknown}\n${USAGE}`);
    return 64;
  }
  const config = loadConfig(standaloneConfig, process.env);
  logRejections(createLogger({ service: 'standalone', level: config.BATON_LOG_LEVEL }));
  const manager = await startManager(config, process.env, ending);
  stopOnFault(manager);
  limitHeapGrowth();
  if (config.BATON_BUNDLED_PLUGINS === 'on') await offerPlugins(manager);
  void greet(manager);
  const asked = new Promise<number>((resolve) => {
    if (ending.aborted) resolve(0);
    ending.addEventListener('abort', () => resolve(0));
  });
  const code = args.includes('--demo')
    ? await Promise.race([asked, demo(manager, args.includes('--once'), asked)])
    : await asked;
  await manager.stop();
  return code;
}

/** Runs the demo. Returns at its end with `isOnce`, else at the request to end. */
async function demo(manager: Manager, isOnce: boolean, asked: Promise<number>): Promise<number> {
  try {
    await runDemo(manager, { isOnce, environment: process.env });
    return isOnce ? 0 : await asked;
  } catch (error) {
    process.stderr.write(`demo: ${(error as Error).message}\n`);
    return 1;
  }
}

async function offerPlugins(manager: Manager): Promise<void> {
  const problem = await offerBundledPlugins(manager, process.env);
  if (problem !== null)
    process.stdout.write(`WARNING  the plugins that come with Baton were not uploaded: ${problem}\n`);
}

/** After a bug: logs it once, then stops the manager as well as still possible. */
function stopOnFault(manager: Manager): void {
  let isEnding = false;
  const onFault = (error: unknown): void => {
    if (isEnding) return;
    isEnding = true;
    process.stderr.write(`unhandled fault; the manager ends: ${(error as Error)?.stack ?? String(error)}\n`);
    setTimeout(() => process.exit(FAULT_EXIT_CODE), FAULT_STOP_LIMIT_MS).unref();
    void manager.stop().finally(() => process.exit(FAULT_EXIT_CODE));
  };
  process.on('uncaughtException', onFault);
}

async function greet(manager: Manager): Promise<void> {
  const { url, adminPassword, isPasswordNew, signInCode, home, workers } = manager;
  const isolation = await workers.isolation(ISOLATION_MS);
  const lines = [
    `Baton is ready.`,
    `  API      ${url}/api/v3.1`,
    `  API docs ${url}/api/docs`,
    `  console  ${url}/ui/${signInCode ? `#code=${signInCode.expose()}` : ''}`,
    ...(signInCode ? ['           the link signs in as admin, once, within 15 minutes'] : []),
    `  data     ${home.dir}`,
    ...isolationLines(isolation),
  ];
  if (isPasswordNew && adminPassword)
    lines.push(`  login    admin / ${adminPassword.expose()}   (kept in ${home.adminPasswordFile})`);
  else if (adminPassword)
    lines.push(`  login    admin, password in ${home.adminPasswordFile} or BATON_ADMIN_PASSWORD`);
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** Lines about the isolation of operations, and its gaps. */
function isolationLines(note: IsolationNote | null): string[] {
  if (note === null) return [];
  const open = note.notEnforced.map((what) => `           not enforced: ${what}`);
  const mark = note.name === 'none' ? 'WARNING  operations are not isolated: ' : 'isolated ';
  return [`  ${mark}${note.description}`, ...open];
}

const ending = wishToEnd();
main(process.argv.slice(2), ending).then(
  (code) => process.exit(code),
  (error: unknown) => {
    // The start was aborted, because the end was requested.
    if (ending.aborted && (error === ending.reason || error instanceof Asked)) process.exit(0);
    const { text, exitCode } = mistakeOf(error);
    process.stderr.write(`${text}\n`);
    process.exit(exitCode);
  },
);
