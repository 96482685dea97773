import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { FatalError, type OperationLogger, RetryableError } from '@baton/plugin-sdk';
import { connect, type SshConnection } from '@baton/plugin-sdk/ssh';
import type { Place } from './client-config';

export interface Call {
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  json?: unknown;
  body?: Uint8Array;
  headers?: Readonly<Record<string, string>>;
  /** Statuses that are an answer, besides 2xx and 304. */
  alsoOk?: readonly number[];
  /** Gets each piece of the answer; its text stays empty. */
  onData?(piece: Buffer): void;
  /** Without an answer; default 60 s. 0: as long as the operation may take. */
  timeoutMs?: number;
}

export interface Answer {
  status: number;
  text: string;
  /** @throws FatalError for an answer that is no JSON */
  json<T>(): T;
}

/** An engine of Docker. */
export interface Engine {
  name: string;
  call(method: string, path: string, call?: Call): Promise<Answer>;
  close(): void;
}

const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
const TIMEOUT_MS = 60_000;
const SHOWN_CHARACTERS = 1000;

interface Context {
  signal: AbortSignal;
  log: OperationLogger;
}

/** Reaches an engine; closes what it opened after `work`. @throws RetryableError when it does not answer; as `call` */
export async function withEngine<T>(
  place: Place,
  context: Context,
  work: (engine: Engine) => Promise<T>,
): Promise<T> {
  const engine = await reach(place, context);
  try {
    return await work(engine);
  } finally {
    engine.close();
  }
}

async function reach(place: Place, { signal, log }: Context): Promise<Engine> {
  if (place.kind === 'socket')
    return engineAt(place.path, signal, async () => ({ socketPath: place.path, host: 'docker' }));
  if (place.kind === 'tcp') {
    const { host, port, tls } = place;
    const options = {
      host,
      port,
      ...(tls && { ca: tls.ca, cert: tls.cert, key: tls.key, rejectUnauthorized: tls.verify ?? true }),
    };
    return engineAt(`${host}:${port}`, signal, async () => options, tls !== undefined);
  }
  const { host, path, login } = place;
  const { known_hosts: known, ...who } = login;
  const connection: SshConnection = await connect({
    ...who,
    host,
    knownHosts: known ?? 'accept',
    signal,
    log,
  });
  const open = async () => {
    const stream = await connection.forwardToSocket(path);
    return { host: 'docker', createConnection: () => withoutSocketCalls(stream) as never };
  };
  return { ...engineAt(`${path} of ${host}`, signal, open), close: () => connection.close() };
}

/** The client of HTTP tunes sockets; a channel of SSH has nothing to tune. */
function withoutSocketCalls(stream: Duplex): Duplex {
  const nothing = () => stream;
  return Object.assign(stream, {
    setTimeout: nothing,
    setNoDelay: nothing,
    setKeepAlive: nothing,
    ref: nothing,
    unref: nothing,
  });
}

function engineAt(
  name: string,
  signal: AbortSignal,
  open: () => Promise<RequestOptions>,
  isTls = false,
): Engine {
  return {
    name,
    call: async (method, path, call = {}) =>
      await send(name, method, path, call, await open(), signal, isTls),
    close: () => undefined,
  };
}

/** @throws RetryableError without an answer, and for 5xx and 409; FatalError for other refusals */
async function send(
  name: string,
  method: string,
  path: string,
  call: Call,
  options: RequestOptions,
  signal: AbortSignal,
  isTls: boolean,
): Promise<Answer> {
  const what = `Docker at ${name}: ${method} ${path}`;
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(call.query ?? {}))
    if (value !== undefined) query.set(key, String(value));
  const body = call.json === undefined ? call.body : Buffer.from(JSON.stringify(call.json));
  const headers = {
    ...(call.json === undefined ? {} : { 'content-type': 'application/json' }),
    ...(body === undefined ? {} : { 'content-length': String(body.length) }),
    ...call.headers,
  };
  const where = `${path}${query.size > 0 ? `?${query}` : ''}`;
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const send = isTls ? httpsRequest : httpRequest;
      const request = send(
        {
          ...options,
          method,
          path: where,
          headers,
          signal,
          agent: options.createConnection === undefined ? false : undefined,
        },
        resolve,
      );
      const { timeoutMs = TIMEOUT_MS } = call;
      if (timeoutMs > 0)
        request.setTimeout(timeoutMs, () =>
          request.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)),
        );
      request.on('error', reject);
      request.end(body);
    });
    const status = response.statusCode ?? 0;
    const isOk = (status >= 200 && status < 300) || status === 304 || (call.alsoOk ?? []).includes(status);
    const text = await textOf(response, isOk ? call.onData : undefined);
    if (!isOk) throw refusal(what, status, text);
    return { status, text, json: <T>() => parsed<T>(text, what) };
  } catch (error) {
    if (error instanceof FatalError || error instanceof RetryableError) throw error;
    throw new RetryableError(
      `${what}: ${signal.aborted ? 'the operation is stopped' : (error as Error).message}`,
      { cause: error },
    );
  }
}

async function textOf(
  response: IncomingMessage,
  onData: ((piece: Buffer) => void) | undefined,
): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    if (onData !== undefined) {
      onData(piece);
      continue;
    }
    bytes += piece.length;
    if (bytes > MAX_ANSWER_BYTES)
      throw new FatalError(`Docker answers with more than ${MAX_ANSWER_BYTES} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function refusal(what: string, status: number, text: string): Error {
  const { message = text } = attemptJson(text) as { message?: string };
  const said = `${what} answered ${status}: ${String(message).slice(0, SHOWN_CHARACTERS)}`;
  return status >= 500 || status === 409 ? new RetryableError(said) : new FatalError(said);
}

const attemptJson = (text: string): object => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
};

function parsed<T>(text: string, what: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new FatalError(`${what} answered something else than JSON`, { cause });
  }
}
