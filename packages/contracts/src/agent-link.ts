/**
 * The stream between an agent and the gateway: one WebSocket over mutual TLS, opened by the agent, with JSON messages. Calls have
 * the form of the relay of workers (packages/rpc/src/calls.ts): numbered, with bytes in base64.
 */
import { z } from 'zod';
import { agentAbout, agentSettings } from './agents';

/** Raised when a message changes its meaning; the gateway speaks this number and the one before. */
export const AGENT_LINK_PROTOCOL = 1;
/** Server name that agents ask for in TLS: by it the gateway shows the certificate of its agents' authority. */
export const AGENT_SERVER_NAME = 'baton-agents';

/** Paths of the listener. Only `stream` and `renew` need a certificate; `/api/...` of the same listener too. */
export const agentPaths = {
  /** POST {token, signing_request, about} -> {certificate, authorities, agent, settings}. */
  enrol: '/agent/v1/enrol',
  /** POST {signing_request} -> the same. */
  renew: '/agent/v1/renew',
  /** WebSocket. */
  stream: '/agent/v1/stream',
  /** GET /agent/v1/packages: AgentPackage[]; /agent/v1/packages/<platform>: the file, with ranges. Open to everybody. */
  packages: '/agent/v1/packages',
  /** GET /agent/v1/install/<link>: the install script of a download link. Also at the plain listener of the API. */
  install: '/agent/v1/install',
} as const;

/** Services and methods that an agent may call through its stream; every other path is refused by the gateway. */
export const agentMethods = {
  executions: {
    'baton.executions.v1.ExecutionsService': [
      'ClaimTask',
      'ClaimAgentTasks',
      'FinishTasks',
      'Heartbeat',
      'AppendEvents',
    ],
  },
  deployments: {
    // GetWorkflowModel: Python operations read the other side of a relationship by it (ctx.instance.relationships[0].target).
    'baton.deployments.v1.DeploymentsService': ['OpenOperation', 'UpdateNodeInstance', 'GetWorkflowModel'],
  },
  catalog: {
    'baton.catalog.v1.CatalogService': [
      'GetBlueprint',
      'ReadPlan',
      'ReadBlueprintFile',
      'ListBlueprintFiles',
      'FindPlugins',
      'ReadWagon',
      'GetFolder',
      'ReadStoredFile',
      'StorePiece',
      'ChangeFolder',
    ],
  },
} as const;

const call = z.number().int().positive();
const base64 = z.string();

/** Messages of an agent. The first is `hello`. */
export const agentFrame = z.union([
  z.object({
    hello: z.object({ protocol: z.number().int(), processId: z.string().max(100), about: agentAbout }),
  }),
  z.object({ about: agentAbout }),
  /** A call; `path` is `executions/baton.executions.v1.ExecutionsService/ClaimAgentTasks`. */
  z.object({
    call,
    path: z.string().max(200),
    body: base64,
    deadlineMs: z.number().int().positive(),
    traceparent: z.string().max(100).optional(),
    lease: z.string().max(4000).optional(),
  }),
  z.object({ call, isGivenUp: z.literal(true) }),
  /** Room for that many more parts of a streamed answer. */
  z.object({ call, more: z.number().int().positive() }),
]);
export type AgentFrame = z.infer<typeof agentFrame>;

/** Messages of the gateway. The first is `welcome`. */
export const gatewayFrame = z.union([
  z.object({
    welcome: z.object({
      protocol: z.number().int(),
      agent: z.object({
        id: z.string(),
        tenant: z.string(),
        name: z.string(),
        nodeInstanceId: z.string(),
        address: z.string(),
      }),
      workerId: z.string(),
      settings: agentSettings,
      /** PEM. */
      authorities: z.string(),
      /** ISO instant of the gateway's clock. */
      now: z.string(),
    }),
  }),
  /** A part of a streamed answer; its end is a message with an empty `body`. Before the next one, which would fit it too. */
  z.object({ call, part: base64 }),
  z.object({
    call,
    body: base64.optional(),
    error: z
      .object({ code: z.string(), message: z.string(), details: z.record(z.string(), z.unknown()) })
      .optional(),
  }),
  z.object({ notice: z.literal('task-ready'), executionId: z.string(), taskId: z.string() }),
  /** These operations of this agent are cancelled: ask by a heartbeat which and how. */
  z.object({ notice: z.literal('tasks-cancelled'), taskIds: z.array(z.string()) }),
  z.object({ notice: z.literal('trust'), authorities: z.string(), renew: z.boolean() }),
  z.object({ notice: z.literal('settings'), settings: agentSettings }),
  z.object({
    notice: z.literal('upgrade'),
    package: z.object({
      platform: z.string(),
      version: z.string(),
      sha256: z.string(),
      size: z.number().int(),
    }),
  }),
  /** The host is being uninstalled: end for good, and remove what the install script made. */
  z.object({ notice: z.literal('leave') }),
  /** The gateway stops: open a stream to another one after that many ms. */
  z.object({ notice: z.literal('leaving'), afterMs: z.number().int() }),
]);
export type GatewayFrame = z.infer<typeof gatewayFrame>;
