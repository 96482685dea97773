/** A gateway with agents: peers in place of deployments and executions, and an agent made of tls and ws. */
import 'reflect-metadata';
import { randomBytes, webcrypto, X509Certificate } from 'node:crypto';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import {
  AGENT_SERVER_NAME,
  type AgentAbout,
  type AgentFrame,
  agentAddress,
  agentPaths,
  agentsRpc,
  catalogRpc,
  deploymentsRpc,
  executionsRpc,
  type GatewayFrame,
  gatewayFrame,
  workersRpc,
} from '@baton/contracts';
import { AppError, Secret, systemClock } from '@baton/kernel';
import type { LocalRpc, ServedCall } from '@baton/rpc';
import { eventually } from '@baton/testkit';
import { type Authority, createAuthority, type Issued } from '@baton/tls/authority';
import { createLeaseProofs, derivedTrust, signCertificate } from '@baton/trust';
import * as x509 from '@peculiar/x509';
import WebSocket from 'ws';
import { KEY, startWorld, type World } from './world';

const SIGNING = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const nowMs = systemClock.now();

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
const settings = {
  maxWorkers: 5,
  env: {},
  logLevel: 'info',
  logMaxBytes: 5_242_880,
  logMaxHistory: 7,
  disconnectGraceMs: 900_000,
  executableTempPath: null,
};

/** Signs a request as an authority, for a name. */
async function signed(authority: Authority, request: string, name: string): Promise<string> {
  x509.cryptoProvider.set(webcrypto as never);
  const asked = new x509.Pkcs10CertificateRequest(request);
  const issuer = new x509.X509Certificate(authority.cert);
  const bytes = x509.PemConverter.decodeFirst(authority.key);
  const signingKey = await webcrypto.subtle.importKey('pkcs8', bytes, SIGNING, true, ['sign']);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: `1${randomBytes(8).toString('hex').slice(1)}`,
    subject: `CN=${name}`,
    issuer: issuer.subject,
    notBefore: new Date(nowMs - 3_600_000),
    notAfter: new Date(nowMs + 86_400_000),
    signingAlgorithm: SIGNING,
    publicKey: asked.publicKey,
    signingKey: signingKey as never,
    extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: name }])],
  });
  return certificate.toString('pem');
}

/** A request for a certificate, as an agent makes it. */
export async function newRequest(): Promise<string> {
  x509.cryptoProvider.set(webcrypto as never);
  const keys = (await webcrypto.subtle.generateKey(SIGNING, true, ['sign', 'verify'])) as never;
  const made = await x509.Pkcs10CertificateRequestGenerator.create({
    name: 'CN=x',
    keys,
    signingAlgorithm: SIGNING,
  });
  return made.toString('pem');
}

type Handlers = Record<string, (request: never, call: ServedCall) => unknown>;

/** Deployments, executions and catalog as the agents of a test meet them. */
export interface Peers {
  authority: Authority;
  /** Agents whose certificates are refused. */
  revoked: Set<string>;
  reports: agentsRpc.ReportAgentsRequest[];
  /** Answered with the next report of the agent. */
  orders: agentsRpc.AgentOrder[];
  admissions: agentsRpc.AdmitAgentRequest[];
  /** By method; a test may set others. */
  executions: Handlers;
  deployments: Handlers;
  catalog: Handlers;
  /** Calls of executions that were served. */
  seen: { method: string; workerId: string }[];
}

export const tokenOf = (name: string): string => `token-of-${name}-0123456789`;

async function createPeers(): Promise<Peers> {
  const authority = await createAuthority('agents', nowMs);
  const peers: Peers = {
    authority,
    revoked: new Set(),
    reports: [],
    orders: [],
    admissions: [],
    seen: [],
    executions: {
      resolveExecutionToken: async () => ({ executionId: '' }),
      claimAgentTasks: async ({ workerId }: executionsRpc.ClaimAgentTasksRequest) => {
        peers.seen.push({ method: 'claimAgentTasks', workerId });
        return { leases: [], lost: [] };
      },
    },
    deployments: {},
    catalog: {},
  };
  return peers;
}

const identityOf = (name: string): agentsRpc.AgentIdentity => ({
  agentId: name,
  tenant: 'default_tenant',
  name,
  nodeInstanceId: `${name}_host`,
  address: agentAddress('default_tenant', `${name}_host`),
});

/** Handlers of AgentsService, from the state of `peers`. */
function agentsService(peers: Peers): Handlers {
  let epoch = 0;
  const certificateFor = async (name: string, request: string): Promise<agentsRpc.AgentCertificate> => ({
    certificate: await signed(peers.authority, request, name),
    authorities: peers.authority.cert,
    agent: identityOf(name),
    settingsJson: JSON.stringify(settings),
  });
  const requireGood = (name: string): void => {
    if (peers.revoked.has(name)) throw new AppError('unauthorized_error', 'The certificate is revoked');
  };
  return {
    enrolAgent: async ({ token, signingRequest }: agentsRpc.EnrolAgentRequest) => {
      const name = /^token-of-(.+)-0123456789$/.exec(token)?.[1];
      if (!name) throw new AppError('unauthorized_error', 'The token is not known');
      return certificateFor(name, signingRequest);
    },
    renewAgentCertificate: async ({ agentId, signingRequest }: agentsRpc.RenewAgentCertificateRequest) => {
      requireGood(agentId);
      return certificateFor(agentId, signingRequest);
    },
    admitAgent: async (asked: agentsRpc.AdmitAgentRequest) => {
      requireGood(asked.agentId);
      peers.admissions.push(asked);
      return {
        agent: identityOf(asked.agentId),
        epoch: ++epoch,
        settingsJson: JSON.stringify(settings),
        authorities: peers.authority.cert,
      };
    },
    reportAgents: async (report: agentsRpc.ReportAgentsRequest) => {
      peers.reports.push(report);
      const isHere = ({ agentId }: agentsRpc.AgentOrder) =>
        report.agents.some((one) => one.agentId === agentId);
      const orders = peers.orders.filter(isHere);
      peers.orders = peers.orders.filter((order) => !isHere(order));
      return { orders, listenerDigest: '' };
    },
    issueListenerCertificate: async ({
      signingRequest,
    }: agentsRpc.IssueListenerCertificateRequest): Promise<agentsRpc.ListenerCertificate> => ({
      certificate: await signed(peers.authority, signingRequest, AGENT_SERVER_NAME),
      authorities: peers.authority.cert,
      listenerDigest: '',
    }),
    readInstallScript: async ({ link }: agentsRpc.ReadInstallScriptRequest) => {
      if (link !== 'good-link-0123456789')
        throw new AppError('not_found_error', 'No script is behind this link');
      return { script: '#!/bin/sh\necho hello\n', agentName: 'a' };
    },
  };
}

/** Calls the handlers that a test has set at that moment. */
const late = (definition: { methods: object }, handlers: () => Handlers): Handlers =>
  Object.fromEntries(
    Object.keys(definition.methods).map((name) => [
      name,
      (request: never, call: ServedCall) => {
        const handler = handlers()[name];
        if (!handler) throw new AppError('service_unavailable_error', `${name} is not part of this test`);
        return handler(request, call);
      },
    ]),
  );

const { identity } = derivedTrust('executions', new Secret(KEY));
export const leases = createLeaseProofs(new Secret(KEY));

const servePeers =
  (peers: Peers) =>
  (rpc: LocalRpc): void => {
    const { ExecutionsServiceDefinition } = executionsRpc;
    const { DeploymentsServiceDefinition } = deploymentsRpc;
    const { CatalogServiceDefinition } = catalogRpc;
    rpc.serve('deployments', agentsRpc.AgentsServiceDefinition, agentsService(peers) as never);
    rpc.serve(
      'deployments',
      DeploymentsServiceDefinition,
      late(DeploymentsServiceDefinition, () => peers.deployments) as never,
    );
    rpc.serve(
      'executions',
      ExecutionsServiceDefinition,
      late(ExecutionsServiceDefinition, () => peers.executions) as never,
    );
    rpc.serve(
      'catalog',
      CatalogServiceDefinition,
      late(CatalogServiceDefinition, () => peers.catalog) as never,
    );
    rpc.serve('executions', workersRpc.WorkersServiceDefinition, {
      registerAgent: async (asked: { workerId: string; publicKey: string }) => ({
        certificate: signCertificate(identity, asked),
      }),
    } as never);
  };

export interface AgentsWorld extends World {
  peers: Peers;
  port: number;
  /** A certificate of the authority with this common name. */
  certificate(name: string, days?: number): Promise<Issued>;
  /** Opens a stream and greets; resolves with the welcome. */
  agent(name: string, o?: AgentOptions): Promise<TestAgent>;
  stream(certificate: Issued | null, o?: StreamOptions): TestStream;
  /** A request over the listener of agents. */
  ask(
    method: string,
    path: string,
    o?: AskOptions,
  ): Promise<{ status: number; body: string; headers: object }>;
}
interface AgentOptions extends Omit<StreamOptions, 'path'> {
  certificate?: Issued;
}
interface StreamOptions {
  path?: string;
  at?: number;
  /** Another port than that of gateway `at`. */
  port?: number;
}
interface AskOptions {
  certificate?: Issued;
  body?: unknown;
  headers?: Record<string, string>;
}

export async function startAgentsWorld(
  o: { gateways?: number; env?: Record<string, string> } = {},
): Promise<AgentsWorld> {
  const peers = await createPeers();
  const world = await startWorld({ ...o, serve: servePeers(peers) });
  const ports = world.gateways.map((url) => Number(new URL(url).port));
  const tls = (certificate: Issued | null): ConnectionOptions => ({
    ca: peers.authority.cert,
    servername: AGENT_SERVER_NAME,
    ...(certificate && { cert: certificate.cert, key: certificate.key }),
  });
  const certificate = (name: string, days?: number): Promise<Issued> =>
    peers.authority.issue({ names: [name], days, nowMs: systemClock.now() });
  const stream = (shown: Issued | null, { path = agentPaths.stream, at = 0, port }: StreamOptions = {}) =>
    new TestStream(`wss://127.0.0.1:${port ?? ports[at]!}${path}`, tls(shown));
  const ask: AgentsWorld['ask'] = (method, path, { certificate: shown, body, headers } = {}) =>
    asked(
      { host: '127.0.0.1', port: ports[0]!, method, path, headers, ...tls(shown ?? null), agent: false },
      body,
    );
  await Promise.all(
    ports.map((port) =>
      eventually(
        () => asked({ host: '127.0.0.1', port, path: '/api/v3.1/open', ...tls(null), agent: false }),
        {
          deadlineMs: 15_000,
        },
      ),
    ),
  );
  return {
    ...world,
    peers,
    port: ports[0]!,
    certificate,
    stream,
    ask,
    agent: async (name, { certificate: shown, ...place } = {}) => {
      const open = stream(shown ?? (await certificate(name)), place);
      return new TestAgent(open, await open.greet());
    },
  };
}

function asked(
  options: RequestOptions,
  body?: unknown,
): Promise<{ status: number; body: string; headers: object }> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const sent = httpsRequest(options, async (response) => {
      try {
        let read = '';
        for await (const piece of response) read += piece;
        resolve({ status: response.statusCode!, body: read, headers: response.headers });
      } catch (error) {
        reject(error);
      }
    });
    sent.on('error', reject);
    sent.end(text);
  });
}

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
export const serialOf = ({ cert }: Issued): string => new X509Certificate(cert).serialNumber.toLowerCase();
