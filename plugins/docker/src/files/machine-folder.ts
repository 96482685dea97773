import { posix } from 'node:path';
import { FatalError, type OperationContext, type OperationLogger } from '@baton/plugin-sdk';
import { quote, type SshConnection } from '@baton/plugin-sdk/ssh';
import * as z from 'zod';
import { atMachine, type Machine } from '../host/machine';

/** Runtime properties of a node that has a folder on the machine of containers. */
export const FOLDER_RUNTIME = {
  destination: z.string().describe('Folder on the machine'),
  docker_host: z.string().describe('Address of the machine'),
  is_own: z.boolean().describe('Whether the folder was made by this node'),
  own_files: z.array(z.string()).describe('Files that this node wrote itself'),
};

export interface FolderScope {
  runtime: { destination?: string; docker_host?: string; is_own?: boolean; own_files?: string[] };
  ctx: OperationContext;
  log: OperationLogger;
  signal: AbortSignal;
  hide(value: unknown): void;
}

/** Makes the folder. Its name is stored before anything is written: delete knows what is ours. @throws FatalError for a relative path */
export async function makeFolder(
  { runtime, ctx }: FolderScope,
  connection: SshConnection,
  machine: Machine,
  destination = '',
): Promise<string> {
  runtime.docker_host = machine.docker_ip;
  if (runtime.destination !== undefined) return runtime.destination;
  if (destination === '') {
    const { stdout } = await connection.run('mktemp -d');
    Object.assign(runtime, { destination: stdout.trim(), is_own: true });
  } else {
    if (!posix.isAbsolute(destination))
      throw new FatalError('resource_config.destination: expected an absolute path');
    const { exitCode } = await connection.run(`test -e ${quote(destination)}`, { exitCodes: { 1: 'ok' } });
    Object.assign(runtime, { destination, is_own: exitCode === 1 });
  }
  await (await ctx.instance()).update();
  await connection.run(`mkdir -p -- ${quote(runtime.destination!)}`);
  return runtime.destination!;
}

/** Writes a file that only the owner reads. It goes with the node, also out of a folder that stays. */
export async function writeOwn(
  { runtime, ctx }: FolderScope,
  connection: SshConnection,
  path: string,
  content: string,
): Promise<void> {
  const known = runtime.own_files ?? [];
  if (!known.includes(path)) {
    runtime.own_files = [...known, path];
    await (await ctx.instance()).update();
  }
  await connection.run(`mkdir -p -- ${quote(posix.dirname(path))}`);
  await connection.put(content, path);
}

/** Removes the folder when the node has made it, else the files that it wrote itself. */
export async function removeFolder(scope: FolderScope, machine: Machine | null | undefined): Promise<void> {
  const { runtime, log } = scope;
  const { destination, is_own: isOwn, own_files: files = [] } = runtime;
  if (destination === undefined) return;
  const gone = isOwn === true ? [destination] : files;
  if (gone.length > 0)
    await atMachine(scope, machine, async (connection) => {
      const command = `rm -rf -- ${gone.map(quote).join(' ')}`;
      const { exitCode } = await connection.run(command, { exitCodes: { 1: 'ok' } });
      if (exitCode === 0) return;
      log.info('containers have left files of root: they are removed by sudo');
      await connection.run(command, { sudo: { password: machine?.sudo_password } });
    });
  if (isOwn !== true) log.info(`${destination} was there before this node: its files stay`);
}

/** A path below the folder as the container sees it. Without a volume it counts from the working directory of the container. */
export const inContainer = (volume: string, ...parts: string[]): string =>
  volume === '' ? posix.join(...parts) : posix.join(volume, ...parts);

/** @throws FatalError for a path that is absolute, leads out, or is empty */
export function requireInside(path: string, name: string): string {
  const plain = posix.normalize(path.replace(/\/+$/, ''));
  const leadsOut = posix.isAbsolute(plain) || plain === '..' || plain.startsWith('../');
  if (path === '' || leadsOut || plain.includes('\0'))
    throw new FatalError(`${name}: expected a path inside, without .. before it: ${JSON.stringify(path)}`);
  return plain;
}
