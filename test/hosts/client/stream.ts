import { AGENT_LINK_PROTOCOL, type AgentFrame, agentPaths, type GatewayFrame } from '@baton/contracts';
import WebSocket from 'ws';
import { type Identity, openTls, type Place, someAbout } from './identity';

export type Welcome = Extract<GatewayFrame, { welcome: unknown }>['welcome'];

/** The answer of a call: bytes, or the error of the API. */
export type CallAnswer = { body: Buffer } | { code: string; message: string };

/** The stream of an agent that a test speaks by hand. */
export interface AgentStream {
  welcome: Welcome;
  /** Notices so far. */
  notices: Extract<GatewayFrame, { notice: unknown }>[];
  /** Sends a call and awaits its answer; parts of a streamed answer are joined. @throws Error when the stream ends before */
  call(path: string, body: Uint8Array, more?: { lease?: string; deadlineMs?: number }): Promise<CallAnswer>;
  /** Sends anything. */
  send(frame: AgentFrame | object): void;
  /** Resolves with code and reason when the stream ends. */
  closed: Promise<{ code: number; reason: string }>;
  close(): void;
}

/** Opens a stream and says hello. @throws Error with the gateway's reason when it is refused */
export async function openStream(
  place: Place,
  identity: Identity,
  processId = 'by-hand',
): Promise<AgentStream> {
  const tls = await openTls(place, identity);
  const stream = new WebSocket(`ws://${place.host}:${place.port}${agentPaths.stream}`, {
    createConnection: () => tls,
    perMessageDeflate: false,
    maxPayload: 64 << 20,
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    stream.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    stream.on('error', () => undefined);
  });
  await opened(stream);
  const calls = openCalls(stream);
  void closed.then(({ code, reason }) => calls.end(new Error(`the stream was closed: ${code} ${reason}`)));
  const welcomed = new Promise<Welcome>((resolve, reject) => {
    stream.on('message', (data) => {
      const frame = JSON.parse(String(data)) as GatewayFrame;
      if ('welcome' in frame) resolve(frame.welcome);
      else if ('notice' in frame) calls.notices.push(frame);
      else calls.take(frame);
    });
    void closed.then(({ code, reason }) => reject(new Error(`no welcome: ${code} ${reason}`)));
  });
  const send = (frame: AgentFrame | object): void => stream.send(JSON.stringify(frame));
  send({ hello: { protocol: AGENT_LINK_PROTOCOL, processId, about: someAbout } });
  return {
    welcome: await welcomed,
    notices: calls.notices,
    call: calls.call,
    send,
    closed,
    close: () => stream.terminate(),
  };
}

function opened(stream: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.once('open', () => resolve());
    stream.once('unexpected-response', (_, response) => {
      let text = '';
      response.on('data', (part) => {
        text += part;
      });
      response.on('end', () => reject(new Error(`stream: ${response.statusCode} ${text}`)));
    });
    stream.once('error', reject);
  });
}

type Answered = Extract<GatewayFrame, { call: number }>;
interface Waiting {
  parts: Buffer[];
  resolve(answer: CallAnswer): void;
  reject(error: Error): void;
}

const DEADLINE_MS = 20_000;

function openCalls(stream: WebSocket) {
  const waiting = new Map<number, Waiting>();
  let last = 0;
  return {
    notices: [] as AgentStream['notices'],
    call: ((path, body, { lease, deadlineMs = DEADLINE_MS } = {}) =>
      new Promise<CallAnswer>((resolve, reject) => {
        const call = ++last;
        waiting.set(call, { parts: [], resolve, reject });
        const bytes = Buffer.from(body).toString('base64');
        stream.send(JSON.stringify({ call, path, body: bytes, deadlineMs, ...(lease ? { lease } : {}) }));
      })) as AgentStream['call'],
    take: (frame: Answered): void => {
      const asked = waiting.get(frame.call);
      if (!asked) return;
      if ('part' in frame) {
        asked.parts.push(Buffer.from(frame.part, 'base64'));
        stream.send(JSON.stringify({ call: frame.call, more: 1 }));
        return;
      }
      waiting.delete(frame.call);
      if (frame.error) return asked.resolve({ code: frame.error.code, message: frame.error.message });
      asked.resolve({ body: Buffer.concat([...asked.parts, Buffer.from(frame.body ?? '', 'base64')]) });
    },
    end: (error: Error): void => {
      for (const asked of waiting.values()) asked.reject(error);
      waiting.clear();
    },
  };
}
