/** Agents: remote workers that run only operations of their host (reference/agents.md 2). */
import { z } from 'zod';

/** Prefix of the worker ids of agents; no other worker may have it. */
const WORKER_PREFIX = 'agent:';

/** Returns the address by which operations name their agent: that of the host, in the tenant of the agent's own record. */
export const agentAddress = (tenant: string, nodeInstanceId: string): string => `${tenant}/${nodeInstanceId}`;

/** Returns the worker id of the agent with this address. */
export const agentWorkerId = (address: string): string => `${WORKER_PREFIX}${address}`;

/** Returns the address of an agent from its worker id; null for any other worker. */
export const addressOfWorker = (workerId: string): string | null =>
  workerId.startsWith(WORKER_PREFIX) ? workerId.slice(WORKER_PREFIX.length) : null;

const short = z.string().max(256);

/** What an agent says of itself: at its enrolment, with each stream, and when it changes. */
export const agentAbout = z.object({
  protocol: z.number().int(),
  version: short,
  /** linux-x64, linux-arm64. */
  platform: short,
  hostname: short,
  /** Text for people, like `Debian GNU/Linux 12`. */
  system: short,
  /** systemd, detach or provided (something else keeps it alive). */
  processManagement: short,
  startedAt: short,
  slots: z.number().int(),
  running: z.number().int(),
  /** Log lines in the journal that the manager has not taken, and those that did not fit into it. */
  waitingLines: z.number().int(),
  droppedLines: z.number().int(),
  /** SHA-256 of the authorities that it trusts, in hexadecimal digits. */
  authoritiesDigest: short,
  certificateUntil: short,
  /** The last upgrade, and why it was undone. */
  upgrade: z
    .object({ version: short, state: z.enum(['done', 'running', 'undone']), reason: z.string().max(2000) })
    .nullable(),
});
export type AgentAbout = z.infer<typeof agentAbout>;

/** What the manager decides for an agent; from `agent_config` of its host (reference/agents.md 1). */
export const agentSettings = z.object({
  maxWorkers: z.number().int().min(1),
  /** Environment of its operations. */
  env: z.record(z.string(), z.string()),
  logLevel: z.string(),
  logMaxBytes: z.number().int(),
  logMaxHistory: z.number().int(),
  /** How long operations go on without a stream, and their leases last. */
  disconnectGraceMs: z.number().int(),
  /** Folder for scripts where /tmp refuses programs. */
  executableTempPath: z.string().nullable(),
});
export type AgentSettings = z.infer<typeof agentSettings>;
