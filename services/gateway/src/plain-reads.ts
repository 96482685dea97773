/**
 * GETs without a body, asked over sockets of our own (docs/adr/0005-gateway-forwarding.md): the head of the answer is read
 * here and the bytes after it are handed on in the buffers that the kernel filled, which are used again once written. Only
 * what our services send for such reads is understood: HTTP/1.1 with a content-length, or no body. For anything else
 * `onOther` is called instead, before a byte of it was passed on, and the caller asks in the general way.
 */
import { connect, type Socket } from 'node:net';
import { errors } from 'undici';

export interface PlainAnswer {
  /** `headers`: [name in lower case, value, ...]. */
  onHead(status: number, headers: string[], resume: () => void): void;
  /** False: no more until `resume`. The bytes belong to the caller until it calls `written`. */
  onBytes(bytes: Buffer, written: (error?: Error | null) => void): boolean;
  onComplete(): void;
  onOther(): void;
  onError(error: Error): void;
}

export interface PlainReadsOptions {
  origin: string;
  /** At the same time; more wait in line. */
  connections: number;
  connectMs: number;
  /** Longest silence while an answer is due. */
  answerMs: number;
  idleMs: number;
}

export interface PlainReads {
  /** The function gives the request up. */
  get(path: string, headers: readonly string[], answer: PlainAnswer): (reason: Error) => void;
  close(): void;
}

const BUFFER_BYTES = 128 * 1024;
/** Buffers kept for later; more than this are in use only under many slow clients. */
const KEPT_BUFFERS = 64;
/** Up to here a copy is cheaper than holding a large buffer until it is written. */
const COPIED_BYTES = 8 * 1024;
const MAX_HEAD_BYTES = 128 * 1024;
const HEAD_END = Buffer.from('\r\n\r\n');
const BAD_PATH = /[^\x21-\x7e\x80-\xff]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused.
const BAD_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

interface Asked {
  text: string;
  answer: PlainAnswer;
  connection: Connection | null;
  isOver: boolean;
}

export function createPlainReads(options: PlainReadsOptions): PlainReads {
  const idle: Connection[] = [];
  const line: Asked[] = [];
  const open = new Set<Connection>();
  const buffers: Buffer[] = [];
  const { hostname, port, host } = new URL(options.origin);
  const shared: Shared = {
    ...options,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || 80),
    take: () => buffers.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES),
    give: (buffer) => void (buffers.length < KEPT_BUFFERS && buffers.push(buffer)),
    free: (connection) => {
      const next = nextOf(line);
      if (next) connection.ask(next);
      else idle.push(connection);
    },
    gone: (connection) => {
      open.delete(connection);
      const at = idle.indexOf(connection);
      if (at >= 0) idle.splice(at, 1);
      const next = nextOf(line);
      if (next) openOne().ask(next);
    },
  };
  const openOne = (): Connection => {
    const connection = new Connection(shared);
    open.add(connection);
    return connection;
  };
  return {
    get(path, headers, answer) {
      const asked: Asked = {
        text: requestText(path, host, headers),
        answer,
        connection: null,
        isOver: false,
      };
      const connection = usable(idle) ?? (open.size < options.connections ? openOne() : null);
      if (connection) connection.ask(asked);
      else line.push(asked);
      return (reason) => {
        if (asked.isOver) return;
        if (asked.connection) return asked.connection.fail(reason);
        asked.isOver = true;
        answer.onError(reason);
      };
    },
    close() {
      for (const connection of idle.splice(0)) connection.end();
    },
  };
}

/** Of one that is being closed its end has not been told yet. */
function usable(idle: Connection[]): Connection | undefined {
  for (;;) {
    const connection = idle.pop();
    if (!connection?.isGone) return connection;
  }
}

/** The first in line that has not been given up. */
function nextOf(line: Asked[]): Asked | undefined {
  for (;;) {
    const next = line.shift();
    if (!next?.isOver) return next;
  }
}

/** @throws InvalidArgumentError for characters that would end the line. */
function requestText(path: string, host: string, headers: readonly string[]): string {
  if (BAD_PATH.test(path)) throw new errors.InvalidArgumentError('invalid request path');
  let text = `GET ${path} HTTP/1.1\r\nhost: ${host}\r\n`;
  for (let i = 0; i < headers.length; i += 2) {
    if (BAD_VALUE.test(headers[i + 1]!))
      throw new errors.InvalidArgumentError(`invalid ${headers[i]} header`);
    text += `${headers[i]}: ${headers[i + 1]}\r\n`;
  }
  return `${text}\r\n`;
}

interface Shared extends PlainReadsOptions {
  host: string;
  port: number;
  take(): Buffer;
  give(buffer: Buffer): void;
  free(connection: Connection): void;
  gone(connection: Connection): void;
}

/** One socket: free, or at one request. */
class Connection {
  readonly #socket: Socket;
  #asked: Asked | null = null;
  #head: Buffer | null = null;
  /** Bytes of the body still to come; -1: the head is not read yet. */
  #left = -1;
  #isKept = true;
  #isConnected = false;

  constructor(private readonly shared: Shared) {
    this.#socket = connect({
      host: shared.host,
      port: shared.port,
      noDelay: true,
      onread: {
        buffer: () => shared.take(),
        callback: (bytes, buffer) => this.#take(bytes, buffer as Buffer),
      },
    });
    this.#socket.setTimeout(shared.connectMs);
    this.#socket.on('connect', () => {
      this.#isConnected = true;
      this.#socket.setTimeout(shared.answerMs);
    });
    this.#socket.on('timeout', () => this.fail(this.#timeout()));
    this.#socket.on('error', (error) => this.fail(error));
    this.#socket.on('end', () => this.fail(lost()));
    this.#socket.on('close', () => {
      this.fail(lost());
      shared.gone(this);
    });
  }

  get isGone(): boolean {
    return this.#socket.destroyed;
  }

  ask(asked: Asked): void {
    asked.connection = this;
    this.#asked = asked;
    this.#left = -1;
    this.#head = null;
    if (this.#isConnected) this.#socket.setTimeout(this.shared.answerMs);
    this.#socket.write(asked.text, 'latin1');
  }

  /** Ends the request that is under way, and the connection, whose answer would be in the way of the next one. */
  fail(reason: Error): void {
    this.#settle((answer) => answer.onError(reason));
    this.#socket.destroy();
  }

  end(): void {
    this.#socket.end();
  }

  #timeout(): Error {
    if (!this.#isConnected) return new errors.ConnectTimeoutError('no connection in time');
    return this.#left < 0 ? new errors.HeadersTimeoutError() : new errors.BodyTimeoutError();
  }

  #settle(tell: (answer: PlainAnswer) => void): void {
    const asked = this.#asked;
    this.#asked = null;
    if (!asked || asked.isOver) return;
    asked.isOver = true;
    tell(asked.answer);
  }

  #take(bytes: number, buffer: Buffer): boolean {
    try {
      return this.#read(bytes, buffer);
    } catch (error) {
      this.fail(error as Error);
      return false;
    }
  }

  /** Answers whether to go on reading. */
  #read(bytes: number, buffer: Buffer): boolean {
    const { shared } = this;
    if (!this.#asked) {
      // Nobody asked: what comes now could be taken for the next answer.
      this.#socket.destroy();
      return false;
    }
    const chunk = buffer.subarray(0, bytes);
    const begin = this.#left < 0 ? this.#readHead(chunk) : 0;
    if (begin < 0 || !this.#asked) {
      shared.give(buffer);
      return !this.#socket.destroyed;
    }
    return this.#pass(chunk, begin, buffer);
  }

  #pass(chunk: Buffer, begin: number, buffer: Buffer): boolean {
    const { shared } = this;
    const { answer } = this.#asked!;
    const rest = chunk.length - begin;
    if (rest > this.#left) {
      this.fail(new errors.SocketError('more bytes than announced'));
      return false;
    }
    this.#left -= rest;
    const isLast = this.#left === 0;
    let goesOn = true;
    if (rest > COPIED_BYTES)
      // A failed write may still hold the bytes: that buffer is not used again.
      goesOn = answer.onBytes(chunk.subarray(begin), (error) => void (error || shared.give(buffer)));
    else {
      if (rest > 0) goesOn = answer.onBytes(Buffer.from(chunk.subarray(begin)), () => undefined);
      shared.give(buffer);
    }
    if (!isLast) return goesOn;
    this.#settle((last) => last.onComplete());
    this.#become();
    return true;
  }

  #become(): void {
    if (this.#socket.destroyed) return;
    if (!this.#isKept) return void this.#socket.destroy();
    this.#socket.setTimeout(this.shared.idleMs);
    this.shared.free(this);
  }

  /** Where the body begins in `chunk`; -1: not yet, or the request is settled. */
  #readHead(chunk: Buffer): number {
    const before = this.#head?.length ?? 0;
    const all = this.#head ? Buffer.concat([this.#head, chunk]) : chunk;
    const end = all.indexOf(HEAD_END);
    if (end < 0) {
      if (all.length > MAX_HEAD_BYTES) this.fail(new errors.HeadersOverflowError());
      else this.#head = Buffer.from(all);
      return -1;
    }
    this.#head = null;
    const head = parseHead(all.toString('latin1', 0, end));
    if (!head) {
      this.#settle((answer) => answer.onOther());
      this.#socket.destroy();
      return -1;
    }
    this.#left = head.length;
    this.#isKept = head.isKept;
    this.#asked!.answer.onHead(head.status, head.headers, () => this.#socket.resume());
    return end + HEAD_END.length - before;
  }
}

interface Head {
  status: number;
  headers: string[];
  length: number;
  isKept: boolean;
}

/** Null: not one of the answers that are understood here. */
function parseHead(text: string): Head | null {
  const lines = text.split('\r\n');
  const status = Number(/^HTTP\/1\.1 ([2-5]\d\d)(?: |$)/.exec(lines[0]!)?.[1] ?? 0);
  if (status === 0) return null;
  const head: Head = { status, headers: [], length: -1, isKept: true };
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i]!;
    const colon = line.indexOf(':');
    if (colon <= 0 || line.includes('\n') || line.includes('\r')) return null;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === 'transfer-encoding' || !/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return null;
    if (name === 'content-length') {
      if (head.length >= 0 || !/^\d{1,15}$/.test(value)) return null;
      head.length = Number(value);
    }
    if (name === 'connection' && value.toLowerCase() !== 'keep-alive') head.isKept = false;
    head.headers.push(name, value);
  }
  if (status === 204 || status === 304) head.length = 0;
  return head.length < 0 ? null : head;
}

function lost(): Error {
  return Object.assign(new Error('the service closed the connection'), { code: 'ECONNRESET' });
}
