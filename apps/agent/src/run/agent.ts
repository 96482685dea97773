/** The running agent: stream, worker and journal together. */
import { randomUUID } from 'node:crypto';
import {
  type AgentLink,
  createAgentLink,
  type LinkTimes,
  type Notice,
  type Welcome,
} from '@baton/agent-link';
import { type AgentAbout, type AgentSettings, agentAddress, agentWorkerId } from '@baton/contracts';
import { type Clock, isoInstant } from '@baton/kernel';
import { sweepOwnDirs } from '@baton/plugin-runtime';
import { productVersion } from '@baton/service-runtime';
import { type AgentConfig, proxyOf } from '../config';
import { exitCodes } from '../exit-codes';
import { type LineJournal, openLineJournal } from '../journal/line-journal';
import { openTaskJournal, type TaskJournal } from '../journal/task-journal';
import type { Places } from '../places';
import { aboutOf } from './about';
import { type AgentExecutions, createAgentExecutions } from './agent-executions';
import type { AgentLog } from './agent-log';
import { type Claims, createClaims } from './claims';
import { type AgentCredentials, readCredentials } from './credentials';
import { createJournalLogs, type JournalLogs } from './journal-logs';
import { type AgentParts, createParts } from './parts';
import { reportLeft } from './records';
import { needsRestart, readSettings, writeSettings } from './settings';

export interface AgentDeps {
  config: AgentConfig;
  places: Places;
  assetsDir: string;
  javascript?: readonly string[] | undefined;
  clock: Clock;
  log: AgentLog;
  /** For tests. */
  times?: Partial<LinkTimes> | undefined;
  /** Called for notices that are not about operations. */
  onNotice?(notice: Notice): void;
  onWelcome?(welcome: Welcome): void;
  /** What the last upgrade came to; absent: there was none. */
  upgrade?(): AgentAbout['upgrade'];
}

export interface AgentStatus {
  version: string;
  name: string;
  tenant: string;
  pid: number;
  isConnected: boolean;
  /** Why there is no stream. */
  problem: string;
  since: string;
  running: { taskId: string; executionId: string; attempt: number; phase: string }[];
  isDraining: boolean;
  isDiskFull: boolean;
  about: AgentAbout;
}

export interface RunningAgent {
  link: AgentLink;
  status(): AgentStatus;
  /** Number of operations that run or wait for their report. */
  held(): number;
  /** Nothing more is claimed, until `resume`. */
  drain(): void;
  resume(): void;
  /** Waits up to `limitMs` for running operations, then kills and reports them. */
  stop(limitMs: number): Promise<void>;
  /** Credentials were renewed: they count from the next stream on. */
  reloadCredentials(): void;
  credentials(): AgentCredentials;
  settings(): AgentSettings;
  /** Resolves with an exit code when the agent wants to be started again. */
  wantsRestart: Promise<number>;
}

/** Waits this long for the outcomes of ended operations to be taken. */
const IDLE_LOOK_MS = 1_000;
/** How often the manager is told what has changed: counts of operations and lines. */
const TELL_MS = 60_000;

/**
 * Starts the agent. It goes on for ever: without a manager it tries again and again.
 * @throws AgentFailure notEnrolled, disk; Error of the disk
 */
export async function startAgent(deps: AgentDeps): Promise<RunningAgent> {
  const agent = new Agent(deps);
  await agent.start();
  return agent;
}

class Agent implements RunningAgent {
  readonly #deps: AgentDeps;
  readonly #startedAtMs: number;
  readonly wantsRestart: Promise<number>;
  #restart!: (code: number) => void;
  #credentials: AgentCredentials;
  #settings: AgentSettings;
  #startSettings: AgentSettings;
  #since: string;
  #journal!: TaskJournal;
  #lines!: LineJournal;
  #logs!: JournalLogs;
  #parts!: AgentParts;
  #claims!: Claims;
  link!: AgentLink;
  #telling: NodeJS.Timeout | undefined;
  #told = '';

  constructor(deps: AgentDeps) {
    this.#deps = deps;
    this.#startedAtMs = deps.clock.now();
    this.#since = isoInstant(this.#startedAtMs);
    this.#credentials = readCredentials(deps.places);
    this.#settings = readSettings(deps.places);
    this.#startSettings = this.#settings;
    this.wantsRestart = new Promise((resolve) => {
      this.#restart = resolve;
    });
  }

  async start(): Promise<void> {
    const { config, places, clock, log } = this.#deps;
    this.#setLog();
    this.#journal = await openTaskJournal({ dir: places.journal, clock, log });
    this.#lines = await openLineJournal({
      dir: places.journal,
      log,
      onDropped: (executionId, count) => this.#logs?.dropped(executionId, count),
    });
    const left = this.#journal.all();
    this.link = this.#createLink();
    const executions = this.#createExecutions();
    const isOpen = (): boolean => this.link.isOpen();
    this.#logs = createJournalLogs({ lines: this.#lines, executions, clock, log, isOpen });
    this.#parts = createParts({
      ...this.#deps,
      settings: this.#settings,
      rpc: this.link.rpc,
      executions,
      journal: this.#journal,
      logs: this.#logs,
    });
    const { worker } = this.#parts;
    const { tenant } = config;
    this.#claims = createClaims({ executions, worker, journal: this.#journal, tenant, clock, log, isOpen });
    await sweepOwnDirs(this.#parts.workRoot);
    await this.#parts.start();
    const flush = (executionId: string) => this.#logs.flush(executionId);
    await reportLeft({ left, journal: this.#journal, worker, flush, clock, log });
    worker.start();
    this.#claims.start();
    this.link.start();
    this.#telling = setInterval(() => this.#tellChanges(), TELL_MS);
  }

  #tellChanges(): void {
    const about = JSON.stringify(this.#about());
    if (about !== this.#told) this.link.tellAbout();
    this.#told = about;
  }

  status(): AgentStatus {
    const { config } = this.#deps;
    const { worker } = this.#parts;
    return {
      version: productVersion,
      name: config.name,
      tenant: config.tenant,
      pid: process.pid,
      isConnected: this.link.isOpen(),
      problem: this.link.problem(),
      since: this.#since,
      running: worker.leaseDeps.tasks
        .all()
        .map(({ taskId, executionId, attempt, phase }) => ({ taskId, executionId, attempt, phase })),
      isDraining: worker.isDraining(),
      isDiskFull: this.#journal.isFull(),
      about: this.#about(),
    };
  }

  held(): number {
    return this.#parts.worker.leaseDeps.tasks.size;
  }

  drain(): void {
    this.#parts.worker.drain();
  }

  resume(): void {
    this.#parts.worker.drain(false);
  }

  async stop(limitMs: number): Promise<void> {
    clearInterval(this.#telling);
    this.#claims.stop();
    await this.#parts.worker.stop(limitMs);
    this.link.close();
    await this.#parts.close();
    await this.#lines.close();
    await this.#journal.close();
  }

  reloadCredentials(): void {
    this.#credentials = readCredentials(this.#deps.places);
    this.link.tellAbout();
  }

  credentials(): AgentCredentials {
    return this.#credentials;
  }

  settings(): AgentSettings {
    return this.#settings;
  }

  #createLink(): AgentLink {
    const { config, clock, log, times } = this.#deps;
    return createAgentLink({
      addresses: () => config.addresses,
      credentials: () => this.#credentials,
      proxy: proxyOf(config),
      processId: randomUUID(),
      about: () => this.#about(),
      patienceMs: () => this.#settings.disconnectGraceMs,
      clock,
      log,
      onWelcome: (welcome) => this.#welcomed(welcome),
      onNotice: (notice) => this.#noticed(notice),
      onLost: (reason) => {
        this.#since = isoInstant(clock.now());
        this.#logs.closed();
        log.warn({ reason }, 'no stream to the manager');
      },
      ...(times && { times }),
    });
  }

  #createExecutions(): AgentExecutions {
    const { config } = this.#deps;
    const workerId = agentWorkerId(agentAddress(config.tenant, config.nodeInstanceId));
    return createAgentExecutions(this.link.rpc, workerId, {
      about: { hostname: this.#about().hostname, version: productVersion, pid: process.pid },
      graceMs: () => this.#settings.disconnectGraceMs,
      onDoubt: () => this.#claims.doubt(),
    });
  }

  #about(): AgentAbout {
    const { config, upgrade } = this.#deps;
    return aboutOf({
      processManagement: config.processManagement,
      startedAtMs: this.#startedAtMs,
      slots: this.#startSettings.maxWorkers,
      running: this.#parts?.worker.leaseDeps.tasks.size ?? 0,
      waitingLines: this.#lines.waiting,
      droppedLines: this.#lines.dropped,
      authorities: this.#credentials.authorities,
      certificate: this.#credentials.certificate,
      upgrade: upgrade?.() ?? null,
    });
  }

  #welcomed(welcome: Welcome): void {
    const { clock, log } = this.#deps;
    this.#since = isoInstant(clock.now());
    log.info({ agent: welcome.agent.id, workerId: welcome.workerId }, 'stream to the manager is open');
    this.#setSettings(welcome.settings);
    // Calls go only after this function: the first of them settles what the agent holds.
    setImmediate(() => {
      this.#claims.opened();
      this.#logs.opened();
    });
    this.#deps.onWelcome?.(welcome);
  }

  #noticed(notice: Notice): void {
    const { worker } = this.#parts;
    if (notice.notice === 'task-ready') void this.#claims.named(notice.executionId, notice.taskId);
    else if (notice.notice === 'tasks-cancelled') {
      if (notice.taskIds.some((id) => worker.leaseDeps.tasks.get(id))) worker.askForCancels();
    } else if (notice.notice === 'settings') this.#setSettings(notice.settings);
    else this.#deps.onNotice?.(notice);
  }

  #setLog(): void {
    const { logLevel: level, logMaxBytes: maxBytes, logMaxHistory: maxHistory } = this.#settings;
    this.#deps.log.set({ level, maxBytes, maxHistory });
  }

  #setSettings(settings: AgentSettings): void {
    if (JSON.stringify(settings) === JSON.stringify(this.#settings)) return;
    const { places, log } = this.#deps;
    this.#settings = settings;
    try {
      writeSettings(places, settings);
    } catch (error) {
      log.error({ reason: (error as Error).message }, 'the settings cannot be stored');
    }
    this.#setLog();
    this.#parts.setEnv(settings);
    if (needsRestart(settings, this.#startSettings)) this.#restartWhenIdle();
  }

  /** Other slots count from the next start on; until then nothing that runs is disturbed. */
  #restartWhenIdle(): void {
    this.#deps.log.info({}, 'the agent starts again with other settings when its operations have ended');
    this.drain();
    const looking = setInterval(() => {
      if (this.held() > 0) return;
      clearInterval(looking);
      this.#restart(exitCodes.again);
    }, IDLE_LOOK_MS);
  }
}
