import { chown, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Account, Confinement } from '@baton/isolation';
import { FatalError } from '@baton/plugin-sdk';
import { requireCases } from '../context/letter-case';
import { give, ownPlaces, type Places } from '../context/places';
import type { OperationSession } from '../context/session';
import type { CtxWork } from '../ctx/ctx-work';
import { runProcess } from './run-process';
import type { RunDir, ScriptSettings } from './settings';

/** Returns the confinement of a process of this operation. The deployment's folder exists before its files are requested. */
export async function confinementOf(
  session: OperationSession,
  { isolation }: Pick<ScriptSettings, 'isolation'>,
  runDir: RunDir,
  readable: readonly string[] = [],
): Promise<Confinement> {
  return confinementIn(session.task.tenant, runDir, await deploymentFolders(session, isolation), readable);
}

export const confinementIn = (
  tenant: string,
  runDir: RunDir,
  folders: readonly string[],
  readable: readonly string[] = [],
): Confinement => ({ tenant, tmp: runDir.tmp, writable: [runDir.path, ...folders], readable });

/** Folders of the deployment that its operations see as they are; none without isolation. */
export async function deploymentFolders(
  session: OperationSession,
  isolation: ScriptSettings['isolation'],
): Promise<string[]> {
  return isolation.name === 'none' ? [] : [await session.host.deploymentPlace()];
}

/** A small task of the worker, done with the account and the view of the operation. */
export interface Errand {
  settings: ScriptSettings;
  runDir: RunDir;
  confinement: Confinement;
  signal: AbortSignal;
}

/** @throws FatalError with the output of the program */
async function errand(
  { settings, runDir, confinement, signal }: Errand,
  script: string,
  args: readonly string[],
  readable: readonly string[] = [],
): Promise<string> {
  const end = await runProcess(
    {
      command: { program: '/bin/sh', args: ['-c', script, 'sh', ...args] },
      cwd: runDir.cwd,
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' },
      logStdout: true,
      logStderr: true,
      stderrToStdout: false,
      confinement: { ...confinement, readable: [...confinement.readable, ...readable] },
    },
    settings,
    signal,
    { started: () => undefined, line: () => undefined, cut: (_, at) => at },
  );
  if (end.code === 0) return end.stdout;
  throw new FatalError(end.stderr.trim() || `the file could not be written (exit code ${end.code})`);
}

const COPY_FILE = `if [ -z "$2" ]; then d=$(mktemp -d "$3/resource-XXXXXXXX") && t=$d/$4; else t=$2; mkdir -p -- "$(dirname -- "$t")"; fi
cp -f -- "$1/file" "$t" && printf %s "$t"`;
const COPY_FOLDER = `if [ -z "$2" ]; then t=$(mktemp -d "$3/resource-XXXXXXXX"); else t=$2; mkdir -p -- "$t"; fi
cp -Rf -- "$1/." "$t/" && printf %s "$t"`;

/**
 * Places files for the processes of an operation. The worker never writes to a place where an operation may have put a
 * link, nor to a path that an operation names. It stages the files in its own folder, and a process of the operation
 * copies them from there.
 */
function operationPlaces(work: Errand): Places {
  const { settings, runDir } = work;
  if (settings.isolation.name === 'none' && settings.isolation.accountOf(work.confinement.tenant) === null)
    return ownPlaces(async () => runDir.tmp);
  const account = settings.isolation.accountOf(work.confinement.tenant);
  let count = 0;
  const staged = async (
    fill: (stage: string) => Promise<void>,
    script: string,
    args: readonly string[],
  ): Promise<string> => {
    const stage = `${runDir.path}.in.${++count}`;
    try {
      await mkdir(stage, { mode: 0o700 });
      await fill(stage);
      await handOver(stage, account);
      return await errand(work, script, [stage, ...args], [stage]);
    } finally {
      await rm(stage, { recursive: true, force: true });
    }
  };
  return {
    file: (given, name, target) =>
      staged((stage) => give(given, join(stage, 'file')), COPY_FILE, [target ?? '', runDir.tmp, name]),
    folder: (files, target) =>
      staged(
        async (stage) => {
          await requireCases(
            stage,
            files.map(({ inside }) => inside),
          );
          for (const { inside, read } of files) {
            const copy = join(stage, inside);
            await mkdir(dirname(copy), { recursive: true });
            await give({ path: await read() }, copy);
          }
        },
        COPY_FOLDER,
        [target ?? '', runDir.tmp],
      ),
  };
}

/** Reads a file of this machine with the rights of the operation. @throws FatalError */
export async function readAsOperation(work: Errand, path: string): Promise<Buffer> {
  const given = await errand(work, 'cat -- "$1" > "$2/given" && printf %s "$2/given"', [
    path,
    work.runDir.tmp,
  ]);
  // No process of the operation runs yet that could have replaced the file.
  return readFile(given);
}

/** Returns the functions that ctx of its processes runs on this machine. */
export function ctxWorkOf(work: Errand): CtxWork {
  const places = operationPlaces(work);
  const isOwn = work.settings.isolation.name === 'none';
  return {
    places,
    makeFolder: async (path) => {
      if (isOwn) await mkdir(path, { recursive: true });
      else await errand(work, 'mkdir -p -- "$1"', [path]);
    },
  };
}

/** Gives all files below a folder of the worker to an account that does not know the folder yet. */
async function handOver(folder: string, account: Account | null): Promise<void> {
  if (account === null) return;
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const path of [folder, ...entries.map((entry) => join(entry.parentPath, entry.name))])
    await chown(path, account.uid, account.gid);
}
