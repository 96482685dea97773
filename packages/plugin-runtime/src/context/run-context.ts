import type { Json, JsonObject } from '@baton/kernel';
import {
  type AgentContext,
  FatalError,
  type InstanceContext,
  type NodeContext,
  type OperationContext,
  type OperationLogger,
  OperationRetry,
  type RemoteCtx,
  type RemoteFiles,
  type SideContext,
} from '@baton/plugin-sdk';
import { remoteCtx } from '../ctx/remote-ctx';
import type { OperationHost } from '../host';
import type { OperationTask } from '../task';
import { textOf } from '../thrown';
import { agentContext } from './agent-script';
import { ownPlaces } from './places';
import { type Resources, renderText, sessionResources } from './resources';
import type { OperationSession } from './session';
import { runStep } from './steps';

/** Logger of an operation. Back-pressure cannot reach synchronous callers; the host limits the lines that it keeps. */
class HostLogger implements OperationLogger {
  constructor(private readonly host: OperationHost) {}
  debug(message: string): void {
    void this.host.emit('log', 'debug', textOf(message));
  }
  info(message: string): void {
    void this.host.emit('log', 'info', textOf(message));
  }
  warning(message: string): void {
    void this.host.emit('log', 'warning', textOf(message));
  }
  error(message: string): void {
    void this.host.emit('log', 'error', textOf(message));
  }
  critical(message: string): void {
    void this.host.emit('log', 'critical', textOf(message));
  }
}

/** The context of in-process operations. Cheap to make: expensive parts are made on first access. */
export class RunContext implements OperationContext {
  #logger: HostLogger | null = null;
  #agent: AgentContext | null = null;
  #resources: Resources | null = null;
  readonly #session: OperationSession;
  readonly #task: OperationTask;
  readonly #tempDir: () => Promise<string>;
  readonly #bin: string | null;

  /** `bin`: folder with the programs that scripts call; null: there is none. */
  constructor(session: OperationSession, tempDir: () => Promise<string>, bin: string | null = null) {
    this.#session = session;
    this.#task = session.task;
    this.#tempDir = tempDir;
    this.#bin = bin;
  }

  get type(): OperationContext['type'] {
    return this.#session.type;
  }
  get tenant(): string {
    return this.#task.tenant;
  }
  get executionId(): string {
    return this.#task.executionId;
  }
  get workflowId(): string {
    return this.#task.workflowId;
  }
  get workflowParameters(): Record<string, unknown> {
    return this.#task.workflowParameters;
  }
  get deployment(): OperationContext['deployment'] {
    return { id: this.#task.deploymentId, displayName: this.#task.deploymentDisplayName };
  }
  get blueprint(): OperationContext['blueprint'] {
    return { id: this.#task.blueprintId };
  }
  get taskId(): string {
    return this.#task.taskId;
  }
  get taskName(): string {
    return this.#task.mapping;
  }
  get createdBy(): string {
    return this.#task.createdBy;
  }
  get plugin(): OperationContext['plugin'] {
    return this.#task.plugin;
  }
  get isResumed(): boolean {
    return this.#task.isResumed;
  }
  get signal(): AbortSignal {
    return this.#session.signal;
  }
  get executionToken(): string {
    return this.#task.executionToken;
  }
  get logger(): OperationLogger {
    this.#logger ??= new HostLogger(this.#session.host);
    return this.#logger;
  }
  get agent(): AgentContext {
    this.#agent ??= agentContext(this.#session);
    return this.#agent;
  }
  get operation(): OperationContext['operation'] {
    const { operation, retryNumber, maxRetries, related } = this.#task;
    return {
      name: operation,
      retryNumber,
      maxRetries,
      relationship: related ? (related.isTarget ? 'source' : 'target') : null,
      retry: (message, retryAfter) => {
        this.#session.retryRequest = new OperationRetry(message, { retryAfter: retryAfter ?? null });
      },
    };
  }

  async node(): Promise<NodeContext> {
    return (await this.#session.own()).node;
  }
  async instance(): Promise<InstanceContext> {
    return (await this.#session.own()).instance;
  }
  source(): Promise<SideContext> {
    return this.#session.side('source');
  }
  target(): Promise<SideContext> {
    return this.#session.side('target');
  }
  sendEvent(text: string): void {
    void this.#session.host.emit('event', 'info', textOf(text));
  }
  getResource(path: string): Promise<Uint8Array> {
    return this.#files().read(path);
  }
  downloadResource(path: string, target?: string): Promise<string> {
    return this.#files().download(path, target ?? null);
  }
  downloadDirectory(path: string, target?: string): Promise<string> {
    return this.#files().downloadDirectory(path, target ?? null);
  }
  downloadResourceAndRender(path: string, target?: string, variables?: JsonObject): Promise<string> {
    return this.#files().downloadAndRender(path, target ?? null, variables ?? {});
  }
  render(text: string, variables?: JsonObject): Promise<string> {
    return renderText(this.#session, text, variables ?? {}, 'text');
  }

  async remoteCtx(files: RemoteFiles, hide?: (text: string) => string): Promise<RemoteCtx> {
    if (this.#bin === null)
      throw new FatalError('ctx is offered to other machines by plugins in packages only');
    return await remoteCtx(this.#session, this.#bin, files, hide);
  }

  secret(name: string): Promise<string> {
    return this.#session.host.secret(name);
  }
  step<T extends Json>(key: string, work: () => Promise<T>): Promise<T> {
    return runStep(this.#session, key, work);
  }
  progress(done: number, total: number, text?: string): void {
    const share = total > 0 ? ` (${Math.floor((done / total) * 100)} %)` : '';
    const what = text === undefined ? '' : `: ${textOf(text)}`;
    void this.#session.host.emit('log', 'info', `progress ${done}/${total}${share}${what}`);
  }

  #files(): Resources {
    this.#resources ??= sessionResources(this.#session, ownPlaces(this.#tempDir));
    return this.#resources;
  }
}
