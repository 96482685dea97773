import { chmod, chown, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { randomSuffix } from '@baton/kernel';
import { FatalError } from '@baton/plugin-sdk';
import { sessionResources } from '../context/resources';
import type { OperationSession } from '../context/session';
import type { ScriptInputs } from './script-inputs';
import type { ScriptSettings } from './settings';

/**
 * Puts the script of a run into its folder as an executable file and answers the path.
 * @throws FatalError when it cannot be fetched or does not exist.
 */
export async function placeScript(
  inputs: ScriptInputs,
  session: OperationSession,
  runDir: string,
  settings: Pick<ScriptSettings, 'account'>,
): Promise<string> {
  const folder = join(runDir, randomSuffix(5).toUpperCase());
  await mkdir(folder);
  const file = join(folder, scriptName(inputs));
  if (inputs.source.kind === 'inline') await writeFile(file, inputs.source.text);
  else await fetchTo(file, inputs.source.path, inputs.caPem, session, runDir);
  await chmod(file, 0o755);
  if (settings.account) {
    for (const path of [folder, file]) await chown(path, settings.account.uid, settings.account.gid);
  }
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
  runDir: string,
): Promise<void> {
  if (/^https?:\/\//.test(path)) {
    const { status, body } = await session.host.fetchUrl(path, { caPem, signal: session.signal });
    if (status !== 200) throw new FatalError(`Failed downloading script: ${path} (status code: ${status})`);
    await writeFile(file, body);
  } else if (path.startsWith('file://')) {
    await copyFile(new URL(path), file).catch((cause: unknown) => {
      throw new FatalError(`Failed reading script: ${path}`, { cause });
    });
  } else {
    await sessionResources(session, async () => runDir).download(path, file);
  }
}
