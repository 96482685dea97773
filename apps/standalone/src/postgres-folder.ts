import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { asOwnChild } from './postgres-programs';
import { StartRefused } from './refusal';

export const POSTGRES_USER = 'baton';
/** In the data folder itself, so that data and password are always together. */
const PASSWORD_FILE = 'baton.password';

/**
 * Makes the data folder of the embedded PostgreSQL when it is missing: in a temporary folder next to it, renamed when it is
 * complete. *Killed before that:* the next start deletes the incomplete folder and begins again. Returns the password of the
 * superuser.
 * @throws StartRefused when the folder has other contents, or the disk refuses it.
 */
export async function ensurePostgresFolder(
  bin: string,
  dataDir: string,
  signal?: AbortSignal,
): Promise<string> {
  mkdirSync(dirname(dataDir), { recursive: true, mode: 0o700 });
  sweep(dataDir);
  if (!existsSync(join(dataDir, 'PG_VERSION'))) await initialise(bin, dataDir, signal);
  return passwordOf(dataDir);
}

const stagePrefix = (dataDir: string): string => `${basename(dataDir)}.new-`;

function sweep(dataDir: string): void {
  for (const name of readdirSync(dirname(dataDir)))
    if (name.startsWith(stagePrefix(dataDir)))
      rmSync(join(dirname(dataDir), name), { recursive: true, force: true });
}

async function initialise(bin: string, dataDir: string, signal?: AbortSignal): Promise<void> {
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0)
    throw new StartRefused(
      `${dataDir} holds files, but no data of PostgreSQL: move them away, or set BATON_HOME to another folder.`,
      78,
    );
  const stage = mkdtempSync(join(dirname(dataDir), stagePrefix(dataDir)));
  const made = join(stage, 'data');
  const passwordFile = join(stage, PASSWORD_FILE);
  try {
    writeFileSync(passwordFile, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 });
    const command = [join(bin, 'initdb'), '-D', made, '-U', POSTGRES_USER, '-A', 'scram-sha-256'];
    command.push(`--pwfile=${passwordFile}`, '-E', 'UTF8', '--locale=C', '--no-instructions');
    await run(asOwnChild(command), signal);
    renameSync(passwordFile, join(made, PASSWORD_FILE));
    rmSync(dataDir, { recursive: true, force: true });
    renameSync(made, dataDir);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** @throws StartRefused with the last output of the program; Error when `signal` ended it. */
async function run([command, ...args]: [string, ...string[]], signal?: AbortSignal): Promise<void> {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], signal });
  let said = '';
  child.stderr.on('data', (text: Buffer) => (said += text.toString()));
  const failure = await new Promise<Error | string | null>((resolve) => {
    child.once('error', resolve);
    child.once('close', (code, by) => resolve(code === 0 ? null : `it ended with ${by ?? `status ${code}`}`));
  });
  signal?.throwIfAborted();
  if (failure === null) return;
  const reason = said.trim().split('\n').filter(Boolean).at(-1) ?? '';
  const text = failure instanceof Error ? failure.message : `${reason || failure}`;
  throw new StartRefused(`The embedded PostgreSQL could not make its data folder: ${text}`, 1);
}

/** Earlier releases stored the password next to the folder. */
function passwordOf(dataDir: string): string {
  const file = [join(dataDir, PASSWORD_FILE), `${dataDir}.password`].find((one) => existsSync(one));
  if (!file)
    throw new StartRefused(
      `${join(dataDir, PASSWORD_FILE)} is missing: without it nobody can log in to the database there. ` +
        'Put it back from a backup, or set BATON_HOME to another folder.',
      78,
    );
  return readFileSync(file, 'utf8').trim();
}
