/** One agent's stream: hello, admission by deployments, registration with executions, welcome; then calls and notices. */
import {
  AGENT_LINK_PROTOCOL,
  type AgentAbout,
  type AgentFrame,
  type AgentSettings,
  agentFrame,
  agentSettings,
  type agentsRpc,
  agentWorkerId,
  type GatewayFrame,
} from '@baton/contracts';
import { type Clock, isAppError, isoInstant, type Log } from '@baton/kernel';
import type { RpcClient, RpcPassage } from '@baton/rpc';
import type WebSocket from 'ws';
import { AgentCalls } from './agent-calls';
import { type AgentCredential, createAgentCredential } from './agent-credential';
import { AgentSocket, closeCodes } from './agent-socket';
import { type AgentTasks, createAgentTasks } from './agent-tasks';
import type { Peer } from './peer';

export interface AgentStreamDeps {
  agents: Pick<RpcClient<typeof agentsRpc.AgentsServiceDefinition>, 'admitAgent'>;
  /** Makes the agent a worker of executions; returns its certificate. */
  register(workerId: string, publicKey: string): Promise<string>;
  passage: RpcPassage;
  gatewayId: string;
  clock: Clock;
  log: Log;
  /** Called when deployments has admitted the agent; false: a later stream of it is here already. */
  admitted(stream: AgentStream): boolean;
  ended(stream: AgentStream): void;
}

/** What deployments has said of the agent. */
export interface Admitted {
  agent: agentsRpc.AgentIdentity;
  epoch: number;
  settings: AgentSettings;
  authorities: string;
}

type Hello = Extract<AgentFrame, { hello: object }>['hello'];

/** How long an agent may take for its hello, and the gateway for the welcome. */
const HELLO_MS = 10_000;
const ADMIT_MS = 10_000;

export class AgentStream {
  /** Null before the welcome. */
  admission: Admitted | null = null;
  /** What the agent has said of itself and deployments has not heard yet; null: nothing new. */
  news: AgentAbout | null = null;
  readonly peer: Peer;
  readonly tasks: AgentTasks = createAgentTasks();
  readonly #socket: AgentSocket;
  readonly #openedMs: number;
  #state: 'new' | 'admitting' | 'open' | 'ended' = 'new';
  #credential: AgentCredential | null = null;
  #calls: AgentCalls | null = null;

  constructor(
    private readonly deps: AgentStreamDeps,
    ws: WebSocket,
    peer: Peer,
  ) {
    this.peer = peer;
    this.#socket = new AgentSocket(ws, deps.clock);
    this.#openedMs = deps.clock.monotonic();
    ws.on('message', (content: Buffer, isBinary: boolean) => this.#receive(content, isBinary));
    ws.once('close', () => this.#end());
  }

  get silentMs(): number {
    return this.#socket.silentMs;
  }
  send(frame: GatewayFrame): void {
    this.#socket.send(frame);
  }
  close(code: number, reason: string): void {
    this.#state = 'ended';
    this.#calls?.close();
    this.#socket.close(code, reason);
  }
  terminate(): void {
    this.#socket.terminate();
  }
  /** Called once a second. */
  look(): void {
    const { clock } = this.deps;
    if (!this.#socket.look()) return;
    if (clock.now() >= this.peer.untilMs) return this.close(closeCodes.refused, 'the certificate has ended');
    if (this.#state === 'new' && clock.monotonic() - this.#openedMs > HELLO_MS)
      this.close(closeCodes.wrong, 'no hello came');
  }

  #end(): void {
    this.#state = 'ended';
    this.#calls?.close();
    this.#credential?.close();
    this.deps.ended(this);
  }

  #receive(content: Buffer, isBinary: boolean): void {
    this.#socket.received(content.length);
    if (this.#state === 'ended' || !this.#socket.isOpen) return;
    if (isBinary) return this.close(closeCodes.notJson, 'messages are JSON texts');
    const frame = frameIn(content);
    if (!frame) return this.close(closeCodes.wrong, 'a message is none of the protocol');
    try {
      this.#handle(frame);
    } catch (error) {
      this.close(closeCodes.wrong, (error as Error).message);
    }
  }

  /** @throws Error when the message is not allowed now */
  #handle(frame: AgentFrame): void {
    if ('hello' in frame) {
      if (this.#state !== 'new') throw new Error('a second hello');
      this.#state = 'admitting';
      void this.#admit(frame.hello);
      return;
    }
    if (this.#state !== 'open') throw new Error('the first message is hello; then wait for the welcome');
    if ('about' in frame) this.news = frame.about;
    else if ('path' in frame) this.#calls!.begin(frame);
    else if ('more' in frame) this.#calls!.more(frame.call, frame.more);
    else this.#calls!.giveUp(frame.call);
  }

  /** Never rejects. */
  async #admit(hello: Hello): Promise<void> {
    const protocol = Math.min(hello.protocol, AGENT_LINK_PROTOCOL);
    if (protocol < AGENT_LINK_PROTOCOL - 1)
      return this.close(closeCodes.protocol, `protocol ${AGENT_LINK_PROTOCOL} or the one before is needed`);
    try {
      const admission = await this.#ask(hello);
      if (this.#isEnded()) return;
      this.admission = admission;
      if (!this.deps.admitted(this)) return this.close(closeCodes.replaced, 'a later stream is open');
      await this.#open(protocol, admission);
    } catch (error) {
      this.#refuse(error);
    }
  }
  #isEnded(): boolean {
    return this.#state === 'ended';
  }

  async #ask({ processId, about }: Hello): Promise<Admitted> {
    const { agents, gatewayId } = this.deps;
    const { agentId, serial } = this.peer;
    const asked = { agentId, serial, gatewayId, processId, aboutJson: JSON.stringify(about) };
    const { agent, epoch, settingsJson, authorities } = await agents.admitAgent(asked, {
      deadlineMs: ADMIT_MS,
    });
    if (agent?.agentId !== agentId) throw new Error('deployments admitted another agent than was asked for');
    return { agent, epoch, settings: agentSettings.parse(JSON.parse(settingsJson)), authorities };
  }

  async #open(protocol: number, { agent, settings, authorities }: Admitted): Promise<void> {
    const { clock, log, passage, register } = this.deps;
    const workerId = agentWorkerId(agent.address);
    const credential = createAgentCredential((key) => register(workerId, key), clock);
    this.#credential = credential;
    await credential.ready();
    if (this.#isEnded()) return credential.close();
    const { tasks } = this;
    const send = (frame: GatewayFrame): void => this.send(frame);
    const drained = (): Promise<void> => this.#socket.drained();
    this.#calls = new AgentCalls({ passage, credential, tasks, log, send, drained });
    this.#state = 'open';
    this.send({
      welcome: {
        protocol,
        agent: shownAgent(agent),
        workerId,
        settings,
        authorities,
        now: isoInstant(clock.now()),
      },
    });
  }

  #refuse(error: unknown): void {
    const { log } = this.deps;
    const fields = { agent: this.peer.agentId };
    if (isAppError(error, 'unauthorized_error') || isAppError(error, 'forbidden_error')) {
      log.warn({ ...fields, reason: error.message }, 'agent refused');
      return this.close(closeCodes.refused, error.message);
    }
    const isLater = isAppError(error) && error.entry.retryable;
    if (isLater) log.warn({ ...fields, reason: error.message }, 'agent not admitted yet');
    else log.error({ ...fields, err: error }, 'agent not admitted');
    if (isLater) this.close(closeCodes.later, 'the manager is not ready; try again');
    else this.close(closeCodes.fault, 'the manager has a fault; its log says which');
  }
}

/** An agent as its welcome and the answer to its enrolment name it. */
export const shownAgent = ({ agentId, tenant, name, nodeInstanceId, address }: agentsRpc.AgentIdentity) => ({
  id: agentId,
  tenant,
  name,
  nodeInstanceId,
  address,
});

/** Null: the message is none of the protocol. */
function frameIn(content: Buffer): AgentFrame | null {
  try {
    return agentFrame.parse(JSON.parse(content.toString('utf8')));
  } catch {
    return null;
  }
}
