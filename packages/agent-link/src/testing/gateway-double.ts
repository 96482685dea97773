/**
 * The agents' listener of a gateway, reduced but true to its contract: real TLS with client certificates, real WebSockets, the
 * routes of the enrolment and of packages. Calls are answered by handlers of the test.
 */
import 'reflect-metadata';
import { createHash, webcrypto, X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import {
  AGENT_LINK_PROTOCOL,
  AGENT_SERVER_NAME,
  type AgentAbout,
  type AgentFrame,
  type AgentSettings,
  agentFrame,
  agentPaths,
  agentWorkerId,
  catalogRpc,
  deploymentsRpc,
  executionsRpc,
  type GatewayFrame,
} from '@baton/contracts';
import { AppError, isoInstant, systemClock } from '@baton/kernel';
import type { MethodDefinition, RpcHandlers } from '@baton/rpc';
import { type Authority, createAuthority } from '@baton/tls/authority';
import * as x509 from '@peculiar/x509';
import { type WebSocket, WebSocketServer } from 'ws';

type Handler = (request: unknown, call: object) => unknown;

export interface DoubleOptions {
  executions?: Partial<RpcHandlers<typeof executionsRpc.ExecutionsServiceDefinition>>;
  deployments?: Partial<RpcHandlers<typeof deploymentsRpc.DeploymentsServiceDefinition>>;
  catalog?: Partial<RpcHandlers<typeof catalogRpc.CatalogServiceDefinition>>;
  settings?: Partial<AgentSettings>;
  port?: number;
  authority?: Authority;
  pingMs?: number;
}

export interface GatewayDouble {
  address: string;
  port: number;
  authority: Authority;
  settings: AgentSettings;
  hellos: AgentAbout[];
  abouts: AgentAbout[];
  /** Paths of the calls, in their order. */
  calls: string[];
  /** Shown leases by path of the last call. */
  leases: Map<string, string>;
  /** Tokens that enrolments may use once. */
  tokens: Set<string>;
  packages: { platform: string; version: string; data: Buffer }[];
  /** Ranges that were asked for. */
  ranges: string[];
  streams(): number;
  notify(notice: Extract<GatewayFrame, { notice: unknown }>): void;
  /** Cuts all streams without a word. */
  cut(): void;
  /** From now on nothing is read, written or pinged, but connections stay. */
  freeze(): void;
  /** Refuses new streams with this status; null: takes them. */
  refuse(status: number | null): void;
  certificateFor(): Promise<{ cert: string; key: string }>;
  close(): Promise<void>;
}

const SETTINGS: AgentSettings = {
  maxWorkers: 5,
  env: {},
  logLevel: 'info',
  logMaxBytes: 5_242_880,
  logMaxHistory: 7,
  disconnectGraceMs: 900_000,
  executableTempPath: null,
};
const AGENT = { id: 'agent-1', tenant: 'default_tenant', name: 'vm_1', nodeInstanceId: 'vm_1' };

export async function startGatewayDouble(o: DoubleOptions = {}): Promise<GatewayDouble> {
  const authority = o.authority ?? (await createAuthority('agents of the tests', systemClock.now()));
  const own = await authority.issue({ names: [AGENT_SERVER_NAME], nowMs: systemClock.now() });
  const server = createServer({
    ...own,
    ca: authority.cert,
    requestCert: true,
    rejectUnauthorized: false,
  });
  const double = new Double(o, authority, server);
  await new Promise<void>((resolve) => server.listen(o.port ?? 0, '127.0.0.1', resolve));
  double.port = (server.address() as AddressInfo).port;
  double.address = `https://127.0.0.1:${double.port}`;
  return double;
}

class Double implements GatewayDouble {
  address = '';
  port = 0;
  readonly authority: Authority;
  readonly settings: AgentSettings;
  readonly hellos: AgentAbout[] = [];
  readonly abouts: AgentAbout[] = [];
  readonly calls: string[] = [];
  readonly leases = new Map<string, string>();
  readonly tokens = new Set<string>();
  readonly packages: GatewayDouble['packages'] = [];
  readonly ranges: string[] = [];
  readonly #server: Server;
  readonly #methods = new Map<string, { method: MethodDefinition; handler: Handler }>();
  readonly #sockets = new Set<WebSocket>();
  readonly #pinging: NodeJS.Timeout;
  #refusal: number | null = null;
  #isFrozen = false;

  constructor(o: DoubleOptions, authority: Authority, server: Server) {
    this.authority = authority;
    this.settings = { ...SETTINGS, ...o.settings };
    this.#server = server;
    for (const [service, definition, handlers] of [
      ['executions', executionsRpc.ExecutionsServiceDefinition, o.executions],
      ['deployments', deploymentsRpc.DeploymentsServiceDefinition, o.deployments],
      ['catalog', catalogRpc.CatalogServiceDefinition, o.catalog],
    ] as const)
      for (const [name, method] of Object.entries(definition.methods)) {
        const handler = (handlers as Record<string, Handler> | undefined)?.[name];
        if (handler)
          this.#methods.set(`${service}/${definition.fullName}/${method.name}`, { method, handler });
      }
    const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
    server.on('upgrade', (request, socket, head) => {
      const isKnown = (request.socket as TLSSocket).authorized && request.url === agentPaths.stream;
      const status = isKnown ? this.#refusal : 403;
      if (status !== null) {
        const text = JSON.stringify({ message: 'the certificate of the agent is not accepted' });
        return socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: ${text.length}\r\n\r\n${text}`);
      }
      sockets.handleUpgrade(request, socket, head, (stream) => this.#serve(stream));
    });
    server.on('request', (request, response) =>
      this.#answer(request, response).catch((error: Error) => response.writeHead(500).end(error.message)),
    );
    this.#pinging = setInterval(() => {
      if (!this.#isFrozen) for (const stream of this.#sockets) stream.ping();
    }, o.pingMs ?? 15_000);
  }

  streams(): number {
    return this.#sockets.size;
  }

  notify(notice: Extract<GatewayFrame, { notice: unknown }>): void {
    for (const stream of this.#sockets) this.#tell(stream, notice);
  }

  cut(): void {
    for (const stream of this.#sockets) stream.terminate();
  }

  freeze(): void {
    this.#isFrozen = true;
    for (const stream of this.#sockets) stream.pause();
  }

  refuse(status: number | null): void {
    this.#refusal = status;
  }

  certificateFor(): Promise<{ cert: string; key: string }> {
    return this.authority.issue({ names: [AGENT.id], days: 30, nowMs: systemClock.now() });
  }

  close(): Promise<void> {
    clearInterval(this.#pinging);
    this.cut();
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #tell(stream: WebSocket, frame: GatewayFrame): void {
    if (!this.#isFrozen && stream.readyState === stream.OPEN) stream.send(JSON.stringify(frame));
  }

  #serve(stream: WebSocket): void {
    this.#sockets.add(stream);
    const credits = new Map<number, { left: number; wake: () => void }>();
    stream.on('close', () => this.#sockets.delete(stream));
    stream.on('error', () => undefined);
    stream.on('message', (data: Buffer) => {
      if (this.#isFrozen) return;
      const frame = agentFrame.parse(JSON.parse(data.toString('utf8')));
      if ('hello' in frame) this.#welcome(stream, frame.hello.about);
      else if ('about' in frame) this.abouts.push(frame.about);
      else if ('path' in frame) void this.#call(stream, frame, credits);
      else if ('more' in frame) {
        const credit = credits.get(frame.call) ?? { left: 0, wake: () => undefined };
        credits.set(frame.call, credit);
        credit.left += frame.more;
        credit.wake();
      }
    });
  }

  #welcome(stream: WebSocket, about: AgentAbout): void {
    this.hellos.push(about);
    const address = `${AGENT.tenant}/${AGENT.nodeInstanceId}`;
    this.#tell(stream, {
      welcome: {
        protocol: AGENT_LINK_PROTOCOL,
        agent: { ...AGENT, address },
        workerId: agentWorkerId(address),
        settings: this.settings,
        authorities: this.authority.cert,
        now: isoInstant(systemClock.now()),
      },
    });
  }

  async #call(
    stream: WebSocket,
    frame: Extract<AgentFrame, { path: string }>,
    credits: Map<number, { left: number; wake: () => void }>,
  ): Promise<void> {
    this.calls.push(frame.path);
    this.leases.set(frame.path, frame.lease ?? '');
    const { call } = frame;
    try {
      const known = this.#methods.get(frame.path);
      if (!known) throw new AppError('unknown_action', `${frame.path}: not served here`);
      const { method, handler } = known;
      const pack = (message: unknown): string =>
        Buffer.from(method.responseType.encode(message).finish()).toString('base64');
      const answer = handler(method.requestType.decode(Buffer.from(frame.body, 'base64')), {});
      if (!method.responseStream) return this.#tell(stream, { call, body: pack(await answer) });
      const credit = credits.get(call) ?? { left: 0, wake: () => undefined };
      credits.set(call, credit);
      for await (const part of answer as AsyncIterable<unknown>) {
        while (credit.left === 0)
          await new Promise<void>((resolve) => {
            credit.wake = resolve;
          });
        credit.left--;
        this.#tell(stream, { call, part: pack(part) });
      }
      this.#tell(stream, { call, body: '' });
    } catch (error) {
      const { code = 'internal_server_error', message, details = {} } = error as AppError;
      this.#tell(stream, { call, error: { code, message, details } });
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const say = (status: number, value: unknown): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    const path = request.url ?? '';
    if (path === agentPaths.enrol || path === agentPaths.renew) {
      let text = '';
      for await (const part of request) text += String(part);
      const asked = JSON.parse(text) as { token?: string; signing_request: string };
      const isKnown =
        path === agentPaths.renew
          ? (request.socket as TLSSocket).authorized
          : this.tokens.delete(asked.token ?? '');
      if (!isKnown)
        return say(403, { message: 'the token was used, or is too old', error_code: 'forbidden_error' });
      return say(200, await this.#enrolled(asked.signing_request));
    }
    if (path === agentPaths.packages)
      return say(
        200,
        this.packages.map(({ platform, version, data }) => ({
          platform,
          version,
          sha256: sha256(data),
          size: data.length,
        })),
      );
    const found = this.packages.find(({ platform }) => path === `${agentPaths.packages}/${platform}`);
    if (!found) return say(404, { message: 'there is no such page' });
    const range = /^bytes=(\d+)-$/.exec(request.headers.range ?? '');
    if (range) this.ranges.push(request.headers.range!);
    const from = range ? Number(range[1]) : 0;
    response.writeHead(range ? 206 : 200, {
      etag: `"${sha256(found.data)}"`,
      ...(range && { 'content-range': `bytes ${from}-${found.data.length - 1}/${found.data.length}` }),
    });
    response.end(found.data.subarray(from));
  }

  async #enrolled(signingRequest: string): Promise<object> {
    return {
      certificate: await signRequest(this.authority, signingRequest),
      authorities: this.authority.cert,
      agent: { ...AGENT, address: `${AGENT.tenant}/${AGENT.nodeInstanceId}` },
      settings: this.settings,
    };
  }
}

const sha256 = (data: Buffer): string => createHash('sha256').update(data).digest('hex');

/** Issues a certificate for the key of a signing request. */
async function signRequest(authority: Authority, pem: string): Promise<string> {
  x509.cryptoProvider.set(webcrypto as never);
  const request = new x509.Pkcs10CertificateRequest(pem);
  if (!(await request.verify(webcrypto as never))) throw new Error('the signature of the request is wrong');
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const issuer = new X509Certificate(authority.cert);
  const key = await webcrypto.subtle.importKey(
    'pkcs8',
    x509.PemConverter.decodeFirst(authority.key),
    algorithm,
    false,
    ['sign'],
  );
  const now = systemClock.now();
  const certificate = await x509.X509CertificateGenerator.create({
    subject: `CN=${AGENT.id}`,
    issuer: issuer.subject.replaceAll('\n', ', '),
    publicKey: await request.publicKey.export(algorithm as never, ['verify'], webcrypto as never),
    signingKey: key as never,
    signingAlgorithm: algorithm,
    notBefore: new Date(now - 60_000),
    notAfter: new Date(now + 30 * 86_400_000),
  });
  return certificate.toString('pem');
}
