import { randomBytes } from 'node:crypto';
import { type DirectScope, directOperation, type RemoteCtx } from '@baton/plugin-sdk';
import { type OpenForward, quote } from '@baton/plugin-sdk/ssh';
import { type AtHost, atHost } from '../host/at-host';
import { readScript, type Script } from './read-script';
import { filesAt, makePlaces, type RemotePlaces } from './remote-places';
import { readScriptInputs, type ScriptInputs } from './script-inputs';

/**
 * Runs a script at a host. It may call `ctx` there: calls come back through a port that the host forwards to this process.
 * @returns what the script gave to `ctx returns`
 * @throws as its exit code says; FatalError after `ctx abort-operation`, OperationRetry after `ctx retry-operation`
 */
export const runScript = directOperation({
  run: async (scope) => {
    const inputs = readScriptInputs(scope.inputs);
    const script = await readScript(scope.ctx, inputs.path);
    return await atHost(scope, async (at) => {
      const offered = inputs.hasCtx ? await offerCtx(scope, at) : null;
      try {
        return await runAtHost(scope, at, inputs, script, offered);
      } finally {
        await offered?.end();
      }
    });
  },
});

async function runAtHost(
  { log, signal }: DirectScope,
  { connection, settings, options }: AtHost,
  inputs: ScriptInputs,
  { name, content }: Script,
  offered: OfferedCtx | null,
): Promise<unknown> {
  // Another user than root could not read the folders of the login.
  const mode = options.sudo && settings.sudoUser !== undefined ? '755' : '700';
  const places = await makePlaces(connection, inputs.baseDir, offered?.served.programs ?? {}, mode);
  offered?.know(places);
  const file = `${places.scripts}/${safeName(name)}-${randomBytes(4).toString('hex')}`;
  await connection.put(content, file, { mode: Number.parseInt(mode, 8) });
  log.debug(`the script is ${file} at ${connection.name}`);
  try {
    await connection.run(commandOf(inputs, file, places), {
      ...options,
      cwd: inputs.cwd ?? places.work,
      env: { ...options.env, ...withoutPath(inputs.env), ...offered?.env },
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
async function offerCtx({ ctx, signal }: DirectScope, { connection }: AtHost): Promise<OfferedCtx> {
  let places: RemotePlaces | null = null;
  const files = () => filesAt(connection, places!, { signal });
  const served = await ctx.remoteCtx({
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
function commandOf({ args, prefix, env }: ScriptInputs, file: string, { base }: RemotePlaces): string {
  // The path of the author may name that of the host, as in a shell.
  const path = (env.PATH ?? '$PATH')
    .split(/\$(?:PATH\b|\{PATH\})/)
    .map(quote)
    .join('"$PATH"');
  const paths = `export PATH=${quote(base)}:${path} PYTHONPATH=${quote(base)}"\${PYTHONPATH:+:$PYTHONPATH}"; `;
  const words = [...(prefix === undefined ? [] : [prefix]), ...[file, ...args].map(quote)];
  return paths + words.join(' ');
}

const withoutPath = ({ PATH: _, ...others }: Record<string, string>): Record<string, string> => others;

const safeName = (name: string): string => name.replace(/[^A-Za-z0-9._-]/g, '_').slice(-60) || 'script';
