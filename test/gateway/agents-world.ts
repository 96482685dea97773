/** A gateway with agents: peers in place of deployments and executions, and agents (test-agent.ts). */
import { X509Certificate } from 'node:crypto';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import {
  AGENT_SERVER_NAME,
  agentAddress,
  agentPaths,
  agentsRpc,
  catalogRpc,
  deploymentsRpc,
  executionsRpc,
  workersRpc,
} from '@baton/contracts';
import { AppError, Secret, systemClock } from '@baton/kernel';
import type { LocalRpc, ServedCall } from '@baton/rpc';
import { eventually } from '@baton/testkit';
import { type Authority, createAuthority, type Issued } from '@baton/tls/authority';
import { openSigner, readSigningRequest } from '@baton/tls/signing';
import { newKey, signingRequest } from '@baton/tls/signing-request';
import { createLeaseProofs, derivedTrust, signCertificate } from '@baton/trust';
import { TestAgent, TestStream } from './test-agent';
import { KEY, startWorld, type World } from './world';

const nowMs = systemClock.now();

const settings = {
  maxWorkers: 5,
  env: {},
  logLevel: 'info',
  logMaxBytes: 5_242_880,
  logMaxHistory: 7,
  disconnectGraceMs: 900_000,
  executableTempPath: null,
};

/** Signs a request as an authority, for a name, for a day. */
async function signed(authority: Authority, request: string, name: string): Promise<string> {
  const asked = await readSigningRequest(request);
  if (typeof asked === 'string') throw new Error(`the signing request ${asked}`);
  const use = name === AGENT_SERVER_NAME ? 'server' : 'client';
  const profile = { commonName: name, dnsNames: [name], use, days: 1, nowMs } as const;
  return (await (await openSigner(authority)).sign(asked, profile)).cert;
}

/** A request for a certificate, as an agent makes it. */
export const newRequest = async (): Promise<string> => await signingRequest(await newKey(), 'x');

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

export const serialOf = ({ cert }: Issued): string => new X509Certificate(cert).serialNumber.toLowerCase();
