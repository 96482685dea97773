import { chmod, chown, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
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
  await chmod(file, 0o755);
  const account = work.settings.isolation.accountOf(session.task.tenant);
  if (account) for (const path of [folder, file]) await chown(path, account.uid, account.gid);
  return file;
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
