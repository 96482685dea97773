import { chmod, chown, copyFile, mkdir, readFile, rmdir, unlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomSuffix } from '@baton/kernel';
import { FatalError } from '@baton/plugin-sdk';
import { ownPlaces } from '../context/places';
import { sessionResources } from '../context/resources';
import type { OperationSession } from '../context/session';
import { type Errand, readAsOperation } from './operation-places';
import type { ScriptInputs } from './script-inputs';

/**
 * Writes the script of a run into its folder as an executable file and returns the path.
 * @throws FatalError when it cannot be fetched or does not exist.
 */
export async function placeScript(
  inputs: ScriptInputs,
  session: OperationSession,
  work: Errand,
): Promise<string> {
  const folder = join(work.runDir.path, randomSuffix(5).toUpperCase());
  await mkdir(folder);
  const file = join(folder, scriptName(inputs));
  if (inputs.source.kind === 'inline') await writeFile(file, inputs.source.text);
  else await fetchTo(file, inputs.source.path, inputs.caPem, session, work);
  await useUnixLineEnds(file);
  await chmod(file, 0o755);
  const account = work.settings.isolation.accountOf(session.task.tenant);
  if (account) for (const path of [folder, file]) await chown(path, account.uid, account.gid);
  return file;
}

/**
 * Removes a placed script and its folder; what else the operation has put there stays. Neither call follows a link, so the
 * operation cannot make the worker remove other files. Never throws.
 */
export async function removeScript(file: string): Promise<void> {
  await unlink(file).catch(() => undefined);
  await rmdir(dirname(file)).catch(() => undefined);
}

/** Programs of Windows read their own line ends, and those of Unix too. */
const WINDOWS_PROGRAM = /\.(ps1|bat|cmd)$/i;
/** A first line of text that ends as on Windows. */
const WINDOWS_FIRST_LINE = /^[^\0\n]*\r\n/;

/**
 * Replaces the line ends of Windows in a text that a program of Unix runs: the system would look for an interpreter whose
 * name ends with a carriage return, and a shell for such commands.
 */
async function useUnixLineEnds(file: string): Promise<void> {
  if (WINDOWS_PROGRAM.test(file)) return;
  const text = await readFile(file, 'latin1');
  // Files of programs contain a NUL.
  if (!WINDOWS_FIRST_LINE.test(text) || text.includes('\0')) return;
  await writeFile(file, text.replaceAll('\r\n', '\n'), 'latin1');
}

function scriptName(inputs: ScriptInputs): string {
  if (inputs.source.kind === 'inline') return 'script.sh';
  const { path } = inputs.source;
  const name = /^https?:\/\//.test(path) && URL.canParse(path) ? new URL(path).pathname : path;
  return basename(name) || 'script';
}

async function fetchTo(
  file: string,
  path: string,
  caPem: string | null,
  session: OperationSession,
  work: Errand,
): Promise<void> {
  if (/^https?:\/\//.test(path)) {
    const { status, body } = await session.host.fetchUrl(path, { caPem, signal: session.signal });
    if (status !== 200) throw new FatalError(`Failed downloading script: ${path} (status code: ${status})`);
    await writeFile(file, body);
  } else if (path.startsWith('file://')) {
    await readLocalScript(work, path, file).catch((cause: unknown) => {
      throw new FatalError(`Failed reading script: ${path}`, { cause });
    });
  } else {
    // No process of the operation runs yet that could have put a link here.
    await sessionResources(
      session,
      ownPlaces(async () => work.runDir.path),
    ).download(path, file);
  }
}

/** Reads a file of this machine with the rights of the operation: the worker's own rights may be wider. */
async function readLocalScript(work: Errand, url: string, file: string): Promise<void> {
  const path = fileURLToPath(url);
  if (work.settings.isolation.name === 'none') return copyFile(path, file);
  await writeFile(file, await readAsOperation(work, path));
}
