import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { FatalError } from '../errors';
import type { RunOptions } from './options';
import { quote } from './quote';
import type { RunInput } from './run-command';

type Run = (command: string, options: RunInput) => Promise<{ stdout: string }>;
export type FileOptions = Pick<RunOptions, 'sudo' | 'signal' | 'timeoutMs'>;

const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Writes a file at the host: first beside its place, then under its name, so nobody reads half of it. `mode` counts from the beginning.
 * @throws as `run`
 */
export async function putFile(
  run: Run,
  content: string | Uint8Array | { path: string },
  remote: string,
  mode: number,
  options: FileOptions,
): Promise<void> {
  const part = `${remote}.baton-part`;
  const stdin = isPath(content)
    ? createReadStream(content.path)
    : Readable.from([Buffer.from(content as never)]);
  const command = `umask 077 && cat > ${quote(part)} && chmod ${(mode & 0o7777).toString(8)} ${quote(part)} && mv -f ${quote(part)} ${quote(remote)}`;
  await run(command, { ...options, stdin });
}

const isPath = (content: unknown): content is { path: string } =>
  typeof content === 'object' && content !== null && !(content instanceof Uint8Array);

/** Reads a file of the host. @throws FatalError for one of more than 64 MiB; as `run` when it cannot be read */
export async function getFile(run: Run, remote: string, options: FileOptions): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const stop = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  const onData = (piece: Buffer): void => {
    bytes += piece.length;
    if (bytes > MAX_BYTES) stop.abort();
    else pieces.push(piece);
  };
  try {
    await run(`cat -- ${quote(remote)}`, { ...options, signal, onData });
  } catch (error) {
    if (bytes > MAX_BYTES) throw new FatalError(`${remote} has more than ${MAX_BYTES} bytes`);
    throw error;
  }
  return Buffer.concat(pieces);
}
