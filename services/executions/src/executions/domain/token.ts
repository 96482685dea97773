import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { isUuid } from '@baton/kernel';

/**
 * Returns the token with which operations of an execution may call the API: 32 hex characters, derived from the key. So only its
 * hash is stored, and any replica can give it to a worker (reference/rest-api.md 2.1).
 */
export function executionToken(key: string, executionId: string): string {
  return macOf(key, `execution-token:${executionId}`);
}

const AGENT_MARK = 'agent.';

/** What an agent's token says: its execution, and the node instances that it may change. */
export interface AgentToken {
  executionId: string;
  instances: readonly string[];
}

/**
 * Returns the token that an operation gets at an agent: `agent.<execution id>.<instances>.<32 hex characters>`. The instances are a
 * JSON list of ids in base64url. The token says all of itself, so nothing of it has to be stored, and it ends with the execution
 * like the other token.
 */
export function agentToken(key: string, { executionId, instances }: AgentToken): string {
  const text = `${executionId}.${Buffer.from(JSON.stringify(instances)).toString('base64url')}`;
  return `${AGENT_MARK}${text}.${macOf(key, `agent-token:${text}`)}`;
}

/** Returns what an agent's token says; null: it is no agent's token, or a forged one. */
export function readAgentToken(key: string, token: string): AgentToken | null {
  if (!token.startsWith(AGENT_MARK)) return null;
  const [executionId = '', packed = '', mac = '', more] = token.slice(AGENT_MARK.length).split('.');
  if (more !== undefined || !isUuid(executionId)) return null;
  const expected = Buffer.from(macOf(key, `agent-token:${executionId}.${packed}`));
  const given = Buffer.from(mac);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  return {
    executionId,
    instances: JSON.parse(Buffer.from(packed, 'base64url').toString('utf8')) as string[],
  };
}

const macOf = (key: string, text: string): string =>
  createHmac('sha256', key).update(text).digest('hex').slice(0, 32);

export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
