/** Wires the parts of the gateway that serve agents. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { agentsRpc, agentTaskReady, tasksCancelled, workersRpc } from '@baton/contracts';
import { AppError, type FloodLog } from '@baton/kernel';
import type { RpcPassage } from '@baton/rpc';
import { type Infra, type ServiceParts, subscriptionPart } from '@baton/service-runtime';
import type { AddressOf } from '../client-address';
import type { Config } from '../config';
import type { FixedHeaders } from '../fixed-headers';
import type { SlowPeers } from '../slow-peers';
import { createAgentDoor } from './agent-door';
import { type AgentPackages, createAgentPackages } from './agent-packages';
import { AgentStreams } from './agent-streams';
import { createCertifiedRequests } from './certified-requests';
import { usualHandshakes } from './handshakes';
import { createListenerCertificate } from './listener-certificate';
import { createOpenRates } from './open-rates';
import { createOpenRequests, type OpenRequests } from './open-requests';

export interface AgentsDeps {
  infra: Infra;
  config: Config;
  floods: FloodLog;
  fixedHeaders: FixedHeaders;
  addressOf: AddressOf;
  slowPeers: SlowPeers;
  /** Counts a request where requests of an address are limited. */
  countRequest(address: string): void | Promise<void>;
}

export interface Agents extends Pick<ServiceParts, 'loops' | 'subscriptions' | 'sideDoor'> {
  /** Requests for packages and install scripts, on the listener of the API. */
  openRequests: OpenRequests;
  start(): Promise<void>;
}

const REGISTER_MS = 10_000;
const REPORT_MS = 1_000;

/** Serves agents. */
export function createAgents(deps: AgentsDeps): Agents {
  const { infra, config, floods, fixedHeaders } = deps;
  const { rpc, clock, log, passage = noPassage, instanceId: gatewayId } = infra;
  const agents = rpc.client(agentsRpc.AgentsServiceDefinition, 'deployments');
  const packages = createAgentPackages(config.BATON_AGENT_PACKAGES, { clock, log });
  const shared = { agents, fixedHeaders, count: counter(deps), watch: watcher(deps) };
  const openRequests = createOpenRequests({ ...shared, packages });
  const certificate = createListenerCertificate({
    agents,
    gatewayId,
    clock,
    floods,
    onChange: (material) => door.certify(material),
  });
  const streams = new AgentStreams({
    agents,
    gatewayId,
    clock,
    floods,
    packages: () => shownPackages(packages),
    onAuthorities: (authorities) => certificate.learn(authorities),
    onListener: () => certificate.doubt(),
  });
  const door = createAgentDoor({
    ...shared,
    register: registrar(rpc),
    passage,
    gatewayId,
    clock,
    log,
    floods,
    streams,
    maxAgents: config.BATON_MAX_AGENTS,
    handshakes: usualHandshakes,
    leaveMs: Math.min(LONGEST_LEAVE_MS, config.BATON_DRAIN / 2),
    requests: [openRequests, createCertifiedRequests(shared)],
    onForeign: () => certificate.doubt(),
  });
  return {
    openRequests,
    sideDoor: {
      ...door,
      close: () => {
        certificate.close();
        return door.close();
      },
    },
    loops: [
      certificate.loop,
      { name: 'agents-report', intervalMs: REPORT_MS, tickOnce: () => streams.report() },
    ],
    subscriptions: subscriptionsOf(streams),
    start: async () => {
      if (config.BATON_AGENTS_PORT !== undefined)
        await door.listen(config.BATON_HOST, config.BATON_AGENTS_PORT);
    },
  };
}

const subscriptionsOf = (streams: AgentStreams): Agents['subscriptions'] => [
  subscriptionPart(agentTaskReady, (message) => streams.taskReady(message)),
  subscriptionPart(tasksCancelled, (message) => streams.tasksCancelled(message)),
];

const shownPackages = (packages: AgentPackages): agentsRpc.AgentPackage[] =>
  packages.list().map(({ platform, version, sha256, size }) => ({ platform, version, sha256, size }));

/** Returns the function that makes an agent a worker of executions. */
function registrar(rpc: Infra['rpc']) {
  const workers = rpc.client(workersRpc.WorkersServiceDefinition, 'executions');
  return async (workerId: string, publicKey: string): Promise<string> =>
    (await workers.registerAgent({ workerId, publicKey }, { deadlineMs: REGISTER_MS })).certificate;
}

/** For a gateway that was given no way to pass calls on. */
const absent = (): never => {
  throw new AppError('service_unavailable_error', 'This gateway passes no calls of agents on');
};
const noPassage: RpcPassage = { unary: absent, stream: absent };

/** Agents that are sent away open their next stream within this time. */
const LONGEST_LEAVE_MS = 5_000;

function counter({ addressOf, countRequest, infra }: AgentsDeps) {
  const rates = createOpenRates(infra.clock);
  return (request: IncomingMessage): void | Promise<void> => {
    const address = addressOf(request);
    rates.count(address);
    return countRequest(address);
  };
}

const watcher =
  ({ slowPeers }: AgentsDeps) =>
  (request: IncomingMessage, response: ServerResponse): (() => void) =>
    slowPeers.watch({ request, response, hasBody: false, isUpload: false, onSlowBody: () => undefined });
