import type { Duplex } from 'node:stream';
import type { Client, ClientChannel } from 'ssh2';
import { RetryableError } from '../errors';
import { closeLogins, openLogins } from './connect';
import { type FileOptions, getFile, putFile } from './files';
import { Forwards, type OpenForward } from './forward';
import type { ConnectOptions, RunOptions, RunResult } from './options';
import { openChannel, type RunInput, runCommand } from './run-command';

/** An open connection to a host. Close it in a `finally`. */
export interface SshConnection {
  /** `user@host`, for messages. */
  readonly name: string;
  /** Runs a line of a shell. Quote each value in it with `quote`. @throws as runCommand */
  run(command: string, options?: RunOptions): Promise<RunResult>;
  /** The login shell at a terminal, as a person has it, which knows no escape codes. For devices that know no commands. @throws RetryableError */
  shell(window?: { columns?: number; rows?: number }): Promise<Duplex>;
  /** Sends a line as it is, without a shell of ours, and gives its streams. For devices with commands of their own. @throws RetryableError */
  channel(line: string, options?: { pty?: boolean }): Promise<Duplex>;
  /** Writes a file at the host. `mode`: default 0600. @throws as run */
  put(
    content: string | Uint8Array | { path: string },
    remote: string,
    options?: FileOptions & { mode?: number },
  ): Promise<void>;
  /** Reads a file of the host. @throws FatalError for more than 64 MiB; else as run */
  get(remote: string, options?: FileOptions): Promise<Buffer>;
  /** Opens a port at the loopback address of the host that leads here. @throws RetryableError when the host refuses */
  forwardBack(onConnection: (connection: Duplex) => void): Promise<OpenForward>;
  /** Connects to an address that the host reaches. @throws RetryableError */
  forwardTo(host: string, port: number): Promise<Duplex>;
  /** Connects to a Unix socket of the host. @throws RetryableError */
  forwardToSocket(path: string): Promise<Duplex>;
  close(): void;
}

const PRIVATE = 0o600;

/**
 * Connects to a host over SSH, without programs of this machine. When the signal aborts, commands at the host are ended; close the
 * connection afterwards.
 * @throws as openLogins
 */
export async function connect(options: ConnectOptions): Promise<SshConnection> {
  const logins = await openLogins(options);
  const login = logins.at(-1)!;
  const { client, name } = login;
  client.on('error', () => undefined);
  const forwards = new Forwards(client, name);
  const run = async (command: string, given: RunInput = {}): Promise<RunResult> => {
    requireOpen(login.isClosed(), name);
    return await runCommand(login, command, { ...given, signal: given.signal ?? options.signal });
  };
  return {
    name,
    run,
    shell: async (window = {}) => {
      requireOpen(login.isClosed(), name);
      return await openShell(login, window);
    },
    channel: async (line, { pty = false } = {}) => {
      requireOpen(login.isClosed(), name);
      return await openChannel(login, line, { pty });
    },
    put: (content, remote, { mode = PRIVATE, ...given } = {}) => putFile(run, content, remote, mode, given),
    get: (remote, given = {}) => getFile(run, remote, given),
    forwardBack: (onConnection) => forwards.back(onConnection),
    forwardTo: (host, port) => forwards.to(host, port),
    forwardToSocket: (path) => forwards.toSocket(path),
    close: () => closeLogins(logins),
  };
}

function requireOpen(isClosed: boolean, name: string): void {
  if (isClosed) throw new RetryableError(`the connection to ${name} was lost`);
}

function openShell(
  { client, name }: { client: Client; name: string },
  { columns = 512, rows = 64 }: { columns?: number; rows?: number },
): Promise<ClientChannel> {
  return new Promise((resolve, reject) => {
    client.shell({ cols: columns, rows, width: 0, height: 0, term: 'dumb' }, (error, channel) => {
      if (error === undefined) resolve(channel);
      else reject(new RetryableError(`${name} opens no terminal: ${error.message}`, { cause: error }));
    });
  });
}
