import { randomBytes } from 'node:crypto';
import type { Json } from '@baton/kernel';
import type { RemoteCtx, RemoteFiles } from '../context';
import type { SshConnection } from './connection';
import type { OpenForward } from './forward';
import type { RunOptions } from './options';
import { quote } from './quote';
import { filesAt, makePlaces, type RemotePlaces } from './remote-places';

/** A script, and how it runs at a host. */
export interface RemoteScript {
  name: string;
  content: Uint8Array;
  /** Each is one word. */
  args: readonly string[];
  /** Text for the shell before the script, for instance `python3`. */
  prefix?: string;
  env: Readonly<Record<string, string>>;
  /** Default: a folder for scripts. */
  cwd?: string;
  /** Folder for the folders of scripts. Default: that of temporary files. */
  baseDir?: string;
  /** Of the command: outputs, sudo, exit codes, limits. */
  options: RunOptions;
  /** Offers `ctx` to the script; null: it gets none. */
  serve: ((files: RemoteFiles) => Promise<RemoteCtx>) | null;
  signal: AbortSignal;
  /** Told where the script is. */
  onPlace?(file: string): void;
}

/**
 * Runs a script at a host. It may call `ctx` there: calls come back through a port that the host forwards to this process.
 * @returns what the script gave to `ctx returns`
 * @throws as `run`; FatalError after `ctx abort-operation`, OperationRetry after `ctx retry-operation`
 */
export async function runScriptAt(connection: SshConnection, script: RemoteScript): Promise<Json> {
  const offered = script.serve === null ? null : await offerCtx(connection, script.serve, script.signal);
  try {
    return await runAt(connection, script, offered);
  } finally {
    await offered?.end();
  }
}

async function runAt(
  connection: SshConnection,
  script: RemoteScript,
  offered: OfferedCtx | null,
): Promise<Json> {
  const { options, signal } = script;
  // Another user than root could not read the folders of the login.
  const isOther = typeof options.sudo === 'object' && options.sudo.user !== undefined;
  const mode = isOther ? '755' : '700';
  const places = await makePlaces(connection, script.baseDir, offered?.served.programs ?? {}, mode);
  offered?.know(places);
  const file = `${places.scripts}/${safeName(script.name)}-${randomBytes(4).toString('hex')}`;
  await connection.put(script.content, file, { mode: Number.parseInt(mode, 8) });
  script.onPlace?.(file);
  try {
    await connection.run(commandOf(script, file, places), {
      ...options,
      cwd: script.cwd ?? places.work,
      env: { ...options.env, ...withoutPath(script.env), ...offered?.env },
    });
  } catch (thrown) {
    // What the script has decided goes before its exit code. After a cancel nobody asks any more.
    if (!signal.aborted) await offered?.served.outcome();
    throw thrown;
  } finally {
    if (!signal.aborted) await connection.run(`rm -f -- ${quote(file)}`).catch(() => undefined);
  }
  return (await offered?.served.outcome()) ?? null;
}

interface OfferedCtx {
  served: RemoteCtx;
  env: Record<string, string>;
  know(places: RemotePlaces): void;
  end(): Promise<void>;
}

/** Opens the way from the host to `ctx`. */
async function offerCtx(
  connection: SshConnection,
  serve: (files: RemoteFiles) => Promise<RemoteCtx>,
  signal: AbortSignal,
): Promise<OfferedCtx> {
  let places: RemotePlaces | null = null;
  const files = () => filesAt(connection, places!, { signal });
  const served = await serve({
    file: (content, name, target) => files().file(content, name, target),
    folder: (all, target) => files().folder(all, target),
  });
  const forward: OpenForward = await connection.forwardBack((stream) => served.accept(stream));
  return {
    served,
    env: { CTX_SOCKET_URL: `http://localhost:${forward.port}${served.path}` },
    know: (known) => {
      places = known;
    },
    end: async () => {
      served.close();
      if (!signal.aborted) await forward.close();
    },
  };
}

/** The line for the shell at the host. Arguments are words; the prefix is text of the author. */
function commandOf({ args, prefix, env }: RemoteScript, file: string, { base }: RemotePlaces): string {
  // The path of the author may name that of the host, as in a shell.
  const path = (env.PATH ?? '$PATH')
    .split(/\$(?:PATH\b|\{PATH\})/)
    .map(quote)
    .join('"$PATH"');
  const paths = `export PATH=${quote(base)}:${path} PYTHONPATH=${quote(base)}"\${PYTHONPATH:+:$PYTHONPATH}"; `;
  const words = [...(prefix === undefined ? [] : [prefix]), ...[file, ...args].map(quote)];
  return paths + words.join(' ');
}

const withoutPath = ({ PATH: _, ...others }: Readonly<Record<string, string>>): Record<string, string> =>
  others;

const safeName = (name: string): string => name.replace(/[^A-Za-z0-9._-]/g, '_').slice(-60) || 'script';
