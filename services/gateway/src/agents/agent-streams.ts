/** All streams of this gateway: one for each agent; what deployments is told of them, and what it orders. */
import {
  agentSettings,
  agentsRpc,
  type agentTaskReady,
  type Envelope,
  type GatewayFrame,
  gatewayFrame,
  type MessageType,
  type tasksCancelled,
} from '@baton/contracts';
import type { Clock, FloodLog } from '@baton/kernel';
import type { RpcClient } from '@baton/rpc';
import { z } from 'zod';
import { closeCodes } from './agent-socket';
import type { AgentStream } from './agent-stream';

type Payload<M> = M extends MessageType<infer T> ? T : never;

export interface AgentStreamsDeps {
  agents: Pick<RpcClient<typeof agentsRpc.AgentsServiceDefinition>, 'reportAgents'>;
  gatewayId: string;
  clock: Clock;
  floods: FloodLog;
  /** Packages of agents that this gateway serves. */
  packages(): agentsRpc.AgentPackage[];
  /** Called with authorities that agents are to trust. */
  onAuthorities(authorities: string): void;
  /** Called when deployments says that other agents are let in than before. */
  onListener(): void;
}

/** A stopping service waits this long for a report under way. */
const REPORT_MS = 2_000;
const LOOK_MS = 1_000;
/**
 * Every third report names all agents, the others only those with news: a statement over five hundred rows in each second would be
 * most of what idle agents cost. Orders reach an agent that is named, so this bounds how late a revocation takes effect
 * (reference/agents.md 2 S6: 5 s).
 */
const ALL_EACH_MS = 2_500;
/** Agents that are gone are remembered until deployments has heard of them; beyond this it finds out by their silence. */
const MAX_GONE = 10_000;

const trustDetail = z.object({ authorities: z.string(), renew: z.boolean().default(false) });
const cutDetail = z.object({ reason: z.string() });

export class AgentStreams {
  /** Also those that are not admitted yet. */
  readonly #all = new Set<AgentStream>();
  readonly #byId = new Map<string, AgentStream>();
  readonly #byAddress = new Map<string, AgentStream>();
  readonly #gone = new Map<string, agentsRpc.ConnectedAgent>();
  readonly #timer: NodeJS.Timeout;
  /** When a report last named all agents, on the monotonic clock. */
  #allMs = -Infinity;
  /** The packages as deployments knows them; null: it knows nothing. */
  #toldPackages: string | null = null;
  /** Digest of the authorities whose agents are let in; null: not heard yet. */
  #listener: string | null = null;
  isLeaving = false;

  constructor(private readonly deps: AgentStreamsDeps) {
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  get count(): number {
    return this.#all.size;
  }
  /** Number of the streams that this certificate's owner has open, admitted or not. */
  countOf(agentId: string): number {
    let count = 0;
    for (const { peer } of this.#all) if (peer.agentId === agentId) count += 1;
    return count;
  }
  add(stream: AgentStream): void {
    this.#all.add(stream);
  }
  /** Gives the stream its place; the one that had it is closed. False: a later stream has it. */
  admit(stream: AgentStream): boolean {
    const { agent, epoch, authorities } = stream.admission!;
    const other = this.#byId.get(agent.agentId);
    if (other && other.admission!.epoch > epoch) return false;
    this.#byId.set(agent.agentId, stream);
    this.#byAddress.set(agent.address, stream);
    this.#gone.delete(agent.agentId);
    other?.close(closeCodes.replaced, 'the agent has opened another stream');
    this.deps.onAuthorities(authorities);
    return true;
  }
  remove(stream: AgentStream): void {
    this.#all.delete(stream);
    const { admission } = stream;
    if (!admission) return;
    const { agentId, address } = admission.agent;
    if (this.#byAddress.get(address) === stream) this.#byAddress.delete(address);
    if (this.#byId.get(agentId) !== stream) return;
    this.#byId.delete(agentId);
    if (this.#gone.size < MAX_GONE) this.#gone.set(agentId, shown(stream));
  }

  #look(): void {
    for (const stream of this.#all) stream.look();
  }

  taskReady({ payload: { agent, executionId, taskId } }: Envelope<Payload<typeof agentTaskReady>>): void {
    this.#byAddress.get(agent)?.send({ notice: 'task-ready', executionId, taskId });
  }
  tasksCancelled({ payload }: Envelope<Payload<typeof tasksCancelled>>): void {
    for (const stream of this.#byId.values()) {
      const taskIds = stream.tasks.among(payload.taskIds);
      if (taskIds.length > 0) stream.send({ notice: 'tasks-cancelled', taskIds });
    }
  }

  /** Tells deployments of the agents here that are due, and follows its orders. @throws AppError when deployments does not answer */
  async report(): Promise<void> {
    const { agents: client, clock, gatewayId } = this.deps;
    const nowMs = clock.monotonic();
    const isForAll = nowMs - this.#allMs >= ALL_EACH_MS;
    const streams = [...this.#byId.values()].filter(({ news }) => isForAll || news !== null);
    const packages = this.deps.packages();
    const said = JSON.stringify(packages);
    const hasNews = said !== (this.#toldPackages ?? '[]');
    if (streams.length === 0 && this.#gone.size === 0 && !hasNews) return;
    const agents = streams.map(shown);
    const gone = [...this.#gone.values()];
    const news = streams.map((stream) => stream.news);
    const { orders, listenerDigest } = await client.reportAgents(
      { gatewayId, agents, gone, packages: hasNews ? packages : [] },
      { deadlineMs: REPORT_MS },
    );
    this.#toldPackages = said;
    if (this.#listener !== null && listenerDigest !== this.#listener) this.deps.onListener();
    this.#listener = listenerDigest;
    for (const one of gone) if (this.#gone.get(one.agentId) === one) this.#gone.delete(one.agentId);
    if (isForAll) this.#allMs = nowMs;
    streams.forEach((stream, i) => {
      if (stream.news === news[i]) stream.news = null;
    });
    const asked = new Map(streams.map((stream) => [stream.admission!.agent.agentId, stream]));
    for (const order of orders) this.#follow(order, asked.get(order.agentId));
  }

  /** `stream`: the one that the report named; orders about it do not concern a later one. */
  #follow({ agentId, kind, detailJson }: agentsRpc.AgentOrder, stream: AgentStream | undefined): void {
    if (!stream || this.#byId.get(agentId) !== stream) return;
    try {
      const detail: unknown = detailJson === '' ? {} : JSON.parse(detailJson);
      if (kind === agentsRpc.AgentOrderKind.AGENT_ORDER_KIND_CUT)
        return stream.close(closeCodes.refused, cutDetail.safeParse(detail).data?.reason ?? 'revoked');
      const notice = noticeOf(kind, detail);
      if ('authorities' in notice) this.deps.onAuthorities(notice.authorities);
      stream.send(notice);
    } catch (error) {
      const fields = { agent: agentId, kind, err: error };
      this.deps.floods.error(agentId, `order ${kind}`, fields, 'order for an agent cannot be read');
    }
  }

  /**
   * Sends the agents away, spread over `spreadMs`, and waits until they have left; at the end the rest is cut. No stream is
   * opened any more.
   */
  async leave(spreadMs: number): Promise<void> {
    this.isLeaving = true;
    const streams = [...this.#all];
    for (const stream of streams)
      stream.send({ notice: 'leaving', afterMs: Math.floor(Math.random() * spreadMs) });
    if (streams.length > 0) await this.#empty(spreadMs);
    for (const stream of this.#all) stream.close(closeCodes.leaving, 'the gateway stops');
    if (this.#all.size > 0) await this.#empty(LOOK_MS);
    for (const stream of this.#all) stream.terminate();
    clearInterval(this.#timer);
    // Those that are gone are told; without an answer deployments finds out by their silence.
    await this.report().catch(() => undefined);
  }
  /** Resolves when no stream is left, or after the time. */
  #empty(limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const over = (): void => {
        clearInterval(look);
        clearTimeout(late);
        resolve();
      };
      const look = setInterval(() => this.#all.size === 0 && over(), 20);
      const late = setTimeout(over, limitMs);
    });
  }
}

function shown(stream: AgentStream): agentsRpc.ConnectedAgent {
  const { agent, epoch } = stream.admission!;
  return {
    agentId: agent.agentId,
    epoch,
    silentMs: stream.silentMs,
    aboutJson: stream.news ? JSON.stringify(stream.news) : '',
  };
}

/** @throws Error when the detail is not that of the order */
function noticeOf(kind: agentsRpc.AgentOrderKind, detail: unknown): GatewayFrame {
  const { AgentOrderKind } = agentsRpc;
  if (kind === AgentOrderKind.AGENT_ORDER_KIND_TRUST)
    return { notice: 'trust', ...trustDetail.parse(detail) };
  if (kind === AgentOrderKind.AGENT_ORDER_KIND_SETTINGS)
    return { notice: 'settings', settings: agentSettings.parse(detail) };
  if (kind === AgentOrderKind.AGENT_ORDER_KIND_UPGRADE)
    return gatewayFrame.parse({ notice: 'upgrade', package: detail });
  if (kind === AgentOrderKind.AGENT_ORDER_KIND_LEAVE) return { notice: 'leave' };
  throw new Error('the order is none of those that are known');
}
