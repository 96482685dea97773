/**
 * The stream of the agent: opened to one address after the other, kept, and opened again after every loss, for ever. The back-off
 * grows from 1 to 30 seconds with full jitter, so that many agents do not come back at the same moment.
 */
import {
  AGENT_LINK_PROTOCOL,
  type AgentAbout,
  type AgentFrame,
  agentPaths,
  type GatewayFrame,
  gatewayFrame,
} from '@baton/contracts';
import { backoffMs, type Clock, type Log } from '@baton/kernel';
import type { RpcConnector } from '@baton/rpc';
import WebSocket from 'ws';
import { createLinkCalls, type LinkCalls } from './calls';
import { type Credentials, openTls, placeOf } from './open-tls';
import type { ProxySettings } from './proxy';

export type Welcome = Extract<GatewayFrame, { welcome: unknown }>['welcome'];
export type Notice = Extract<GatewayFrame, { notice: unknown }>;

export interface AgentLinkOptions {
  /** Addresses of the manager, the best first; read at each attempt. */
  addresses(): readonly string[];
  /** Read at each attempt: both change while the agent runs. */
  credentials(): Credentials;
  proxy: ProxySettings;
  /** Names this life of the agent's process. */
  processId: string;
  about(): AgentAbout;
  /** How long calls of running operations wait for a stream. */
  patienceMs(): number;
  clock: Clock;
  log: Log;
  onWelcome(welcome: Welcome): void;
  onNotice(notice: Notice): void;
  /** The stream is gone, or could not be opened. */
  onLost(reason: string): void;
  /** For tests: shorter times than those of production. */
  times?: Partial<LinkTimes>;
}

export interface LinkTimes {
  connectMs: number;
  /** From TCP to TLS: a gateway to which many agents come back at once lets them begin one after the other. */
  tlsMs: number;
  welcomeMs: number;
  /** A stream is dead after this time without a message or a ping of the gateway. */
  silenceMs: number;
  firstRetryMs: number;
  mostRetryMs: number;
}

const TIMES: LinkTimes = {
  connectMs: 10_000,
  tlsMs: 30_000,
  welcomeMs: 15_000,
  silenceMs: 45_000,
  firstRetryMs: 1_000,
  mostRetryMs: 30_000,
};

/** Low: within the seconds that a gateway takes to start again, waits are still short. */
const RETRY_FACTOR = 1.5;

/** Larger messages close the stream. */
const MAX_FRAME_BYTES = 96 * 1024 * 1024;
const MAX_REFUSAL_CHARS = 500;

export interface AgentLink {
  /** Calls to the services behind the gateway. */
  rpc: RpcConnector;
  /** Whether a stream is open and welcomed. */
  isOpen(): boolean;
  /** Why there is no stream; empty while there is one, or before the first attempt. */
  problem(): string;
  start(): void;
  /** Says again what the agent is, when that has changed. */
  tellAbout(): void;
  /** Closes the stream and opens another one at once. */
  reopen(reason: string): void;
  close(): void;
}

export function createAgentLink(o: AgentLinkOptions): AgentLink {
  return new Link(o);
}

class Link implements AgentLink {
  readonly #o: AgentLinkOptions;
  readonly #times: LinkTimes;
  readonly #calls: LinkCalls;
  #stream: WebSocket | null = null;
  #problem = '';
  #attempts = 0;
  #nextAddress = 0;
  #isClosed = false;
  #retry: NodeJS.Timeout | undefined;
  #leaving: NodeJS.Timeout | undefined;

  constructor(o: AgentLinkOptions) {
    this.#o = o;
    this.#times = { ...TIMES, ...o.times };
    this.#calls = createLinkCalls({ patienceMs: o.patienceMs });
  }

  get rpc(): RpcConnector {
    return this.#calls.rpc;
  }

  isOpen(): boolean {
    return this.#stream !== null;
  }

  problem(): string {
    return this.#problem;
  }

  start(): void {
    void this.#open();
  }

  tellAbout(): void {
    if (this.#stream) send(this.#stream, { about: this.#o.about() });
  }

  reopen(reason: string): void {
    clearTimeout(this.#retry);
    const stream = this.#stream;
    if (!stream) return void this.#open();
    this.#lost(stream, reason, 0);
    stream.close(1000, 'the agent opens another stream');
    setTimeout(() => stream.terminate(), 1_000).unref();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    clearTimeout(this.#leaving);
    this.#calls.end();
    const stream = this.#stream;
    this.#stream = null;
    stream?.close(1000, 'the agent stops');
    if (stream) setTimeout(() => stream.terminate(), 1_000).unref();
  }

  /** Tries one address; after a failure the next one is tried later. */
  async #open(): Promise<void> {
    const addresses = this.#o.addresses();
    const address = addresses[this.#nextAddress++ % Math.max(1, addresses.length)];
    let stream: WebSocket | null = null;
    try {
      if (address === undefined) throw new Error('no address of the manager is known');
      stream = await openStream(address, this.#o, this.#times);
      const welcome = await greet(stream, this.#o, this.#times);
      if (this.#isClosed) return stream.terminate();
      this.#nextAddress--;
      this.#attempts = 0;
      this.#welcomed(stream, welcome);
    } catch (error) {
      stream?.terminate();
      this.#failed(`${address ?? 'no address'}: ${(error as Error).message}`);
    }
  }

  #welcomed(stream: WebSocket, welcome: Welcome): void {
    this.#stream = stream;
    this.#problem = '';
    const lost = (reason: string): void => this.#lost(stream, reason);
    watch(stream, this.#times.silenceMs, this.#o.clock, lost);
    stream.on('message', (data: Buffer, isBinary) => {
      const frame = isBinary ? null : readFrame(data);
      if (!frame) return stream.close(1008, 'this message is not understood');
      if ('call' in frame) this.#calls.receive(frame);
      else if ('notice' in frame) this.#noticed(stream, frame);
    });
    // The user of the link learns of the stream before calls that waited for it go.
    this.#o.onWelcome(welcome);
    this.#calls.opened((frame) => send(stream, frame));
  }

  #noticed(stream: WebSocket, notice: Notice): void {
    if (notice.notice === 'leaving')
      this.#leaving = setTimeout(() => {
        if (this.#stream === stream) this.reopen('the gateway stops');
      }, notice.afterMs).unref();
    this.#o.onNotice(notice);
  }

  #lost(stream: WebSocket, reason: string, waitMs?: number): void {
    if (this.#stream !== stream) return;
    clearTimeout(this.#leaving);
    this.#stream = null;
    this.#calls.closed();
    this.#failed(reason, waitMs);
  }

  #failed(reason: string, waitMs?: number): void {
    if (this.#isClosed) return;
    this.#problem = reason;
    this.#attempts++;
    const { firstRetryMs: firstMs, mostRetryMs: maxMs } = this.#times;
    const delayMs = waitMs ?? backoffMs(this.#attempts, { firstMs, maxMs, factor: RETRY_FACTOR, jitter: 1 });
    this.#o.onLost(reason);
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.#open(), delayMs);
  }
}

function send(stream: WebSocket, frame: AgentFrame): void {
  if (stream.readyState === WebSocket.OPEN) stream.send(JSON.stringify(frame));
}

function readFrame(data: Buffer): GatewayFrame | null {
  try {
    return gatewayFrame.parse(JSON.parse(data.toString('utf8')));
  } catch {
    return null;
  }
}

/** Calls `lost` once: when the stream closes, fails, or says nothing for too long. */
function watch(stream: WebSocket, silenceMs: number, clock: Clock, lost: (reason: string) => void): void {
  let heardAt = clock.monotonic();
  const heard = (): void => {
    heardAt = clock.monotonic();
  };
  stream.on('message', heard);
  stream.on('ping', heard);
  const looking = setInterval(() => {
    if (clock.monotonic() - heardAt < silenceMs) return;
    lost(`the gateway was silent for ${Math.round(silenceMs / 1000)} s`);
    stream.terminate();
  }, silenceMs / 9);
  stream.on('error', (error) => lost(error.message));
  stream.on('close', (code, reason) => {
    clearInterval(looking);
    lost(`the gateway closed the stream (${code}${reason.length > 0 ? `: ${reason.toString()}` : ''})`);
  });
}

async function openStream(address: string, o: AgentLinkOptions, times: LinkTimes): Promise<WebSocket> {
  const place = placeOf(address);
  const socket = await openTls(place, o.credentials(), o.proxy, times);
  return new Promise((resolve, reject) => {
    const host = place.host.includes(':') ? `[${place.host}]` : place.host;
    // TLS is open already; the library must not open its own.
    const stream = new WebSocket(`ws://${host}:${place.port}${agentPaths.stream}`, {
      createConnection: () => socket,
      perMessageDeflate: false,
      maxPayload: MAX_FRAME_BYTES,
      handshakeTimeout: times.connectMs,
    });
    stream.once('open', () => {
      stream.removeAllListeners('error');
      stream.on('error', () => undefined);
      resolve(stream);
    });
    stream.once('error', (error) => {
      socket.destroy();
      reject(error);
    });
    stream.once('unexpected-response', (_request, answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => {
        text = (text + part).slice(0, MAX_REFUSAL_CHARS);
      });
      answer.on('close', () => {
        socket.destroy();
        reject(new Error(`the gateway refuses the stream (status ${answer.statusCode}): ${refusalOf(text)}`));
      });
    });
  });
}

function refusalOf(text: string): string {
  try {
    return String((JSON.parse(text) as { message?: unknown }).message ?? text);
  } catch {
    return text.trim();
  }
}

/** Says hello and returns the welcome; messages that follow it at once are not lost. */
function greet(stream: WebSocket, o: AgentLinkOptions, times: LinkTimes): Promise<Welcome> {
  return new Promise((resolve, reject) => {
    const settle = (then: () => void): void => {
      clearTimeout(timer);
      stream.removeListener('message', take);
      stream.removeListener('close', gone);
      then();
    };
    const timer = setTimeout(
      () => settle(() => reject(new Error(`no welcome within ${times.welcomeMs} ms`))),
      times.welcomeMs,
    );
    const gone = (code: number, reason: Buffer): void =>
      settle(() => reject(new Error(`the gateway refuses the agent (${code}): ${reason.toString()}`)));
    const take = (data: Buffer): void => {
      const frame = readFrame(data);
      if (!frame || !('welcome' in frame))
        return settle(() => reject(new Error('the first message of the gateway is no welcome')));
      // The next messages wait until the caller listens.
      stream.pause();
      settle(() => resolve(frame.welcome));
      setImmediate(() => stream.resume());
    };
    stream.on('message', take);
    stream.on('close', gone);
    send(stream, {
      hello: { protocol: AGENT_LINK_PROTOCOL, processId: o.processId, about: o.about() },
    });
  });
}
