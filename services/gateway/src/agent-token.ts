/** Holds the token of an execution that an agent has to what its operation needs. */
import { type AgentTokenName, agentTokenRoutes, closedToAgentToken } from '@baton/contracts/http/agent-token';
import { AppError } from '@baton/kernel';
import type { Caller } from './principal-cache';
import type { CompiledRoute } from './route-table';

interface Asked {
  route: Pick<CompiledRoute, 'contract'>;
  /** Of the path, undecoded. */
  segments: readonly string[];
  /** Without its question mark. */
  query: string;
}

/** @throws AppError forbidden_error when the caller is an agent, and its operation does not need this */
export function checkAgentToken({ route: { contract }, segments, query }: Asked, { agent }: Caller): void {
  if (!agent) return;
  const rule = Object.hasOwn(agentTokenRoutes, contract.id) ? agentTokenRoutes[contract.id] : undefined;
  if (!rule) throw closed(`${contract.method} ${contract.path} is none of them`);
  const names = contract.path.split('/').slice(1);
  for (const [param, of] of Object.entries(rule.params ?? {}))
    requireOwn(param, of, [decoded(segments[names.indexOf(`:${param}`)])], agent);
  if (rule.instance !== undefined)
    requireInstance(rule.instance, decoded(segments[names.indexOf(`:${rule.instance}`)]), agent);
  const asked = new URLSearchParams(query);
  for (const [filter, of] of Object.entries(rule.filters ?? {}))
    requireOwn(filter, of, asked.getAll(filter), agent);
  for (const name of asked.keys())
    if (closedToAgentToken.includes(name.toLowerCase())) throw closed(`the argument ${name} is not for it`);
}

function requireOwn(
  field: string,
  of: AgentTokenName,
  given: readonly (string | undefined)[],
  agent: NonNullable<Caller['agent']>,
): void {
  if (given.length === 1 && given[0] === agent[of] && given[0] !== '') return;
  throw closed(`${field} must be ${WHOSE[of]}`);
}

function requireInstance(
  param: string,
  id: string | undefined,
  { instances }: NonNullable<Caller['agent']>,
): void {
  if (id !== undefined && instances.includes(id)) return;
  throw closed(`${param} must be a node instance of the operation, or its host: ${instances.join(', ')}`);
}

const WHOSE: Record<AgentTokenName, string> = {
  tenant: 'the tenant of its execution',
  deploymentId: 'the deployment of its execution',
  blueprintId: 'the blueprint of its deployment',
};

function decoded(segment: string | undefined): string | undefined {
  try {
    return segment === undefined ? undefined : decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

function closed(why: string): AppError {
  return new AppError(
    'forbidden_error',
    `The token of an operation on an agent opens only what the operation itself needs: ${why}`,
    { expected: Object.keys(agentTokenRoutes) },
  );
}
