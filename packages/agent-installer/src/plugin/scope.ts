import { ApiError, type Client, createClient } from '@baton/client';
import { type Clock, isAppError, type Json, type JsonObject } from '@baton/kernel';
import {
  FatalError,
  type InstanceContext,
  isMarkedError,
  type OperationContext,
  OperationRetry,
  type PluginOperation,
  RetryableError,
  resumable,
} from '@baton/plugin-sdk';
import { type AgentConfig, agentConfigOf } from './agent-config';

/** Services that the operations need from their worker. */
/**
 * The network policy for connections that the worker opens itself: returns the address to connect to.
 * @throws Error that says why a host is not for operations
 */
export type Reach = (host: string, port: number) => Promise<string>;

export interface AgentPluginDeps {
  /** Address of the API of this manager, without a path: http://gateway:8080 */
  managerUrl: string;
  clock: Clock;
  reach: Reach;
}

/** One run of an operation on an agent. */
export interface Scope {
  readonly deps: AgentPluginDeps;
  readonly ctx: OperationContext;
  readonly inputs: Readonly<Record<string, Json>>;
  /** Of the host. */
  readonly instance: InstanceContext;
  readonly config: AgentConfig;
  /** The API with the rights of the execution. */
  readonly client: Client;
}

export type Work = (scope: Scope) => Promise<Json>;

/** Makes an operation from its work. It may run again after its worker was lost: each step is safe to repeat. */
export function agentOperation(deps: AgentPluginDeps, work: Work): PluginOperation {
  return resumable(async (ctx, inputs) => {
    try {
      const instance = await ctx.instance();
      const { properties } = await ctx.node();
      const config = agentConfigOf({
        properties,
        runtime: instance.runtimeProperties,
        inputs,
        id: instance.id,
      });
      const client = createClient({
        baseUrl: deps.managerUrl,
        token: ctx.executionToken,
        tenant: ctx.tenant,
      });
      return await work({ deps, ctx, inputs, instance, config, client });
    } catch (thrown) {
      throw failureOf(thrown);
    }
  });
}

export const isMissing = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

/** A refusal of the API is final; a manager that cannot be reached is worth another try. */
export function failureOf(thrown: unknown): Error {
  if (isMarkedError(thrown)) return thrown;
  if (isAppError(thrown, 'bad_parameters_error')) return new FatalError(thrown.message);
  if (!(thrown instanceof ApiError)) return thrown instanceof Error ? thrown : new Error(String(thrown));
  if (thrown.errorCode === 'forbidden_while_cancelling') return new OperationRetry();
  if (thrown.status >= 500 || thrown.status === 429)
    return new RetryableError(thrown.message, { cause: thrown });
  return new FatalError(thrown.message, { cause: thrown });
}

/** Runtime property of the host with the facts about its agent. */
const AGENT = 'cloudify_agent';
/** Runtime property with the state of a wait, between two runs of an operation. */
const WAIT = '_agent_wait';

/** The runtime property `cloudify_agent`; {} before the agent is made. */
export const agentFacts = ({ instance }: Pick<Scope, 'instance'>): JsonObject =>
  objectOf(instance.runtimeProperties[AGENT]);

export async function saveFacts({ instance }: Pick<Scope, 'instance'>, facts: JsonObject): Promise<void> {
  instance.runtimeProperties = {
    ...instance.runtimeProperties,
    [AGENT]: { ...objectOf(instance.runtimeProperties[AGENT]), ...facts },
  };
  await instance.update();
}

/** Removes what the agent has left in the runtime properties. */
export async function removeFacts({ instance }: Pick<Scope, 'instance'>): Promise<void> {
  const { [AGENT]: _facts, [WAIT]: _wait, agent_status: _status, ...others } = instance.runtimeProperties;
  instance.runtimeProperties = others;
  await instance.update();
}

export const waitOf = ({ instance }: Pick<Scope, 'instance'>): JsonObject =>
  objectOf(instance.runtimeProperties[WAIT]);

/** `wait`: null removes it. */
export async function saveWait(
  { instance }: Pick<Scope, 'instance'>,
  wait: JsonObject | null,
): Promise<void> {
  const { [WAIT]: _, ...others } = instance.runtimeProperties;
  instance.runtimeProperties = wait === null ? others : { ...others, [WAIT]: wait };
  await instance.update();
}

export const objectOf = (value: Json | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
