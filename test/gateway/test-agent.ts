/** An agent made of tls and ws, which keeps what came. */
import { randomBytes } from 'node:crypto';
import type { ConnectionOptions } from 'node:tls';
import {
  type AgentAbout,
  type AgentFrame,
  executionsRpc,
  type GatewayFrame,
  gatewayFrame,
} from '@baton/contracts';
import { eventually } from '@baton/testkit';
import WebSocket from 'ws';

export const about: AgentAbout = {
  protocol: 1,
  version: '0.2.0',
  platform: 'linux-x64',
  hostname: 'host',
  system: 'Debian GNU/Linux 12',
  processManagement: 'detach',
  startedAt: '2026-11-27T08:00:00.000Z',
  slots: 5,
  running: 0,
  waitingLines: 0,
  droppedLines: 0,
  authoritiesDigest: '',
  certificateUntil: '',
  upgrade: null,
};
export interface Closed {
  code: number;
  reason: string;
}

/** A WebSocket that keeps what came. */
export class TestStream {
  readonly ws: WebSocket;
  readonly frames: GatewayFrame[] = [];
  readonly closed: Promise<Closed>;
  /** Status of a refused upgrade. */
  readonly refused: Promise<number>;
  constructor(url: string, tls: ConnectionOptions) {
    this.ws = new WebSocket(url, { ...tls, perMessageDeflate: false });
    this.ws.on('error', () => undefined);
    this.ws.on('message', (content: Buffer) =>
      this.frames.push(gatewayFrame.parse(JSON.parse(content.toString()))),
    );
    this.closed = new Promise((resolve) => {
      this.ws.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    this.refused = new Promise((resolve) => {
      this.ws.once('unexpected-response', (_request, response) => {
        resolve(response.statusCode!);
        response.destroy();
      });
    });
  }
  async opened(): Promise<void> {
    if (this.ws.readyState === WebSocket.OPEN) return;
    await new Promise((resolve, reject) => {
      this.ws.once('open', resolve);
      this.ws.once('error', reject);
    });
  }
  send(frame: AgentFrame | object): void {
    this.ws.send(JSON.stringify(frame));
  }
  async greet(): Promise<Extract<GatewayFrame, { welcome: object }>['welcome']> {
    await this.opened();
    this.send({ hello: { protocol: 1, processId: randomBytes(8).toString('hex'), about } });
    const gone = this.closed.then(({ code, reason }) => {
      throw new Error(`closed ${code} ${reason}`);
    });
    const welcome = await Promise.race([gone, this.next((frame) => 'welcome' in frame)]);
    gone.catch(() => undefined);
    return (welcome as Extract<GatewayFrame, { welcome: object }>).welcome;
  }
  /** Waits for a message of this kind. */
  next(isIt: (frame: GatewayFrame) => boolean): Promise<GatewayFrame> {
    return eventually(async () => this.frames.find(isIt) ?? false, {
      deadlineMs: 10_000,
    }) as Promise<GatewayFrame>;
  }
  notice(name: string): Promise<GatewayFrame> {
    return this.next((frame) => 'notice' in frame && frame.notice === name);
  }
}

type Welcome = Awaited<ReturnType<TestStream['greet']>>;
export type Answer = Exclude<Extract<GatewayFrame, { call: number }>, { part: string }>;

export class TestAgent {
  #last = 0;
  constructor(
    readonly stream: TestStream,
    readonly welcome: Welcome,
  ) {}
  /** Begins a call and returns its number. */
  begin(path: string, body: Uint8Array, lease?: string): number {
    this.#last += 1;
    const bytes = Buffer.from(body).toString('base64');
    this.stream.send({ call: this.#last, path, body: bytes, deadlineMs: 10_000, ...(lease && { lease }) });
    return this.#last;
  }
  answerOf(call: number): Promise<Answer> {
    return this.stream.next(
      (frame) => 'call' in frame && frame.call === call && !('part' in frame),
    ) as Promise<Answer>;
  }
  async call(path: string, body: Uint8Array, lease?: string): Promise<Answer> {
    return await this.answerOf(this.begin(path, body, lease));
  }
  /** Asks executions for operations, as `workerId`. */
  async claim(workerId = this.welcome.workerId): Promise<Answer> {
    const { ClaimAgentTasksRequest } = executionsRpc;
    const request = ClaimAgentTasksRequest.fromPartial({ workerId, room: 1, isNewStream: true });
    return await this.call(CLAIM, ClaimAgentTasksRequest.encode(request).finish());
  }
  parts(call: number): string[] {
    return this.stream.frames.flatMap((frame) =>
      'part' in frame && frame.call === call ? [frame.part] : [],
    );
  }
}

export const CLAIM = 'executions/baton.executions.v1.ExecutionsService/ClaimAgentTasks';
