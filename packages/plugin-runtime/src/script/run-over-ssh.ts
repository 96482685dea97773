import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { FatalError } from '@baton/plugin-sdk';
// The library behind is loaded with the first operation over SSH: most workers never have one.
import type { RunOptions, SshConnection } from '@baton/plugin-sdk/ssh';
import { ownPlaces } from '../context/places';
import { sessionResources } from '../context/resources';
import type { OperationSession } from '../context/session';
import { remoteCtx } from '../ctx/remote-ctx';
import type { OperationEnd } from '../operation-end';
import { SCRIPT_MAPPING } from '../registry';
import { environmentOf, readScriptInputs, type ScriptInputs } from './script-inputs';
import { makeRunDir, type ScriptSettings } from './settings';

/** A program that writes without end must not fill the log of the manager. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;
const REMOVE_MS = 10_000;
const MARK = 'baton-folder:';
/** A first line of text that ends as on Windows. */
const WINDOWS_FIRST_LINE = /^[^\0\n]*\r\n/;

/**
 * Runs a script of a host at that host, over one SSH connection (install_method: ssh). Lines come into the log while it runs; a
 * stopped operation ends its process group there; its folder at the host is removed.
 * @throws FatalError for anything but a script, and for a host without a login; RetryableError for exit codes and lost connections
 */
export async function runOverSsh(session: OperationSession, settings: ScriptSettings): Promise<OperationEnd> {
  const { task, host, signal } = session;
  if (task.mapping !== SCRIPT_MAPPING)
    throw new FatalError(
      `operation ${task.mapping} of plugin ${task.plugin.name} cannot run over SSH: only scripts can (install_method: ssh). ` +
        'It needs an agent on its host (install_method: remote, init_script or provided), or executor: central_deployment_agent',
    );
  if (host.sshLogin === undefined) throw new FatalError('this worker runs no operations over SSH');
  const inputs = readScriptInputs(await session.inputs());
  const content = await contentOf(session, settings, inputs);
  const login = await host.sshLogin();
  const { connect } = await import('@baton/plugin-sdk/ssh');
  const connection = await connect({ ...login.connect, signal, log: warnings(session) });
  try {
    await login.connected();
    const result = await atFolder(connection, login.tempDir, signal, (folder) =>
      runIn(session, settings, { inputs, content, connection, folder }),
    );
    return { kind: 'succeeded', result };
  } finally {
    connection.close();
  }
}

interface Run {
  inputs: ScriptInputs;
  content: Buffer;
  connection: SshConnection;
  folder: string;
}

async function runIn(
  session: OperationSession,
  { assetsDir }: ScriptSettings,
  { inputs, content, connection, folder }: Run,
): Promise<unknown> {
  const { process: how, variables } = inputs;
  const { runScriptAt } = await import('@baton/plugin-sdk/ssh');
  const name = nameOf(inputs);
  const isPython = how.evalPython ?? (inputs.source.kind === 'path' && name.endsWith('.py'));
  return await runScriptAt(connection, {
    name,
    content,
    args: how.args,
    prefix: how.commandPrefix ?? (isPython ? 'python3 -u' : undefined),
    env: { ...environmentOf(variables), ...environmentOf(how.env) },
    cwd: how.cwd ?? undefined,
    baseDir: folder,
    options: outputOf(session, inputs),
    signal: session.signal,
    serve: how.hasCtxProxy ? (files) => remoteCtx(session, join(assetsDir, 'bin'), files) : null,
    onPlace: (file) => void session.host.emit('log', 'debug', `the script is ${file} at ${connection.name}`),
  });
}

/** Lines of the script as those of a script at the manager: `<out> ...`. */
function outputOf({ host }: OperationSession, { process: how }: ScriptInputs): RunOptions {
  let left = MAX_LINE_BYTES;
  return {
    onLine: (line, stream) => {
      const isErr = stream === 'stderr' && !how.stderrToStdout;
      if (!(isErr ? how.logStderr : how.logStdout) || left <= 0) return;
      left -= line.length + 1;
      if (left > 0) void host.emit('log', 'info', `<${isErr ? 'err' : 'out'}> ${line}`);
      else void host.emit('log', 'warning', 'the output is longer than 4 MiB: the rest is not logged');
    },
  };
}

/** A fresh folder of the run at the host, removed at its end; also after a stop, as far as the host can be reached. */
async function atFolder<T>(
  connection: SshConnection,
  tempDir: string | null,
  signal: AbortSignal,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const { quote } = await import('@baton/plugin-sdk/ssh');
  const top = tempDir === null ? '"${TMPDIR:-/tmp}"' : quote(tempDir);
  const { stdout } = await connection.run(
    `umask 077; top=${top}; mkdir -p "$top"; d=$(mktemp -d "$top/baton-XXXXXXXX") && printf '${MARK}%s' "$d"`,
  );
  const folder = stdout.slice(stdout.lastIndexOf(MARK) + MARK.length);
  if (!stdout.includes(MARK) || !folder.startsWith('/'))
    throw new FatalError(
      `${connection.name} has no folder for scripts: expected agent_config.executable_temp_path, or a TMPDIR there`,
    );
  try {
    return await work(folder);
  } finally {
    // The signal of the connection would refuse a command after a stop.
    const own = signal.aborted ? { signal: AbortSignal.timeout(REMOVE_MS) } : {};
    await connection
      .run(`rm -rf -- ${quote(folder)}`, { ...own, timeoutMs: REMOVE_MS })
      .catch(() => undefined);
  }
}

async function contentOf(
  session: OperationSession,
  settings: ScriptSettings,
  { source, caPem }: ScriptInputs,
): Promise<Buffer> {
  if (source.kind === 'inline') return Buffer.from(source.text);
  const content = /^https?:\/\//.test(source.path)
    ? await fetched(session, source.path, caPem)
    : await readBlueprintFile(session, settings, source.path);
  const text = content.toString('latin1');
  const isWindowsText = WINDOWS_FIRST_LINE.test(text) && !text.includes('\0');
  // The host would look for an interpreter whose name ends with a carriage return.
  return isWindowsText ? Buffer.from(text.replaceAll('\r\n', '\n'), 'latin1') : content;
}

async function fetched(
  { host, signal }: OperationSession,
  path: string,
  caPem: string | null,
): Promise<Buffer> {
  const { status, body } = await host.fetchUrl(path, { caPem, signal });
  if (status !== 200) throw new FatalError(`Failed downloading script: ${path} (status code: ${status})`);
  return Buffer.from(body);
}

async function readBlueprintFile(
  session: OperationSession,
  { workRoot }: ScriptSettings,
  path: string,
): Promise<Buffer> {
  if (path.startsWith('file://'))
    throw new FatalError(
      `script_path: ${path} is a file of a machine: expected a file of the blueprint or an address`,
    );
  const runDir = await makeRunDir(workRoot, null);
  try {
    const resources = sessionResources(
      session,
      ownPlaces(async () => runDir.path),
    );
    return await readFile(await resources.download(path, join(runDir.path, 'script')));
  } finally {
    await runDir.remove();
  }
}

function nameOf({ source }: ScriptInputs): string {
  if (source.kind === 'inline') return 'script.sh';
  const { path } = source;
  return (
    basename(/^https?:\/\//.test(path) && URL.canParse(path) ? new URL(path).pathname : path) || 'script'
  );
}

const warnings = ({ host }: OperationSession) => ({
  debug: (text: string) => void host.emit('log', 'debug', text),
  warning: (text: string) => void host.emit('log', 'warning', text),
});
