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

/**
 * Returns the token that operations of an execution get at an agent: `agent.<execution id>.<32 hex characters>`. It names the
 * execution, so nothing of it has to be stored, and it ends with the execution like the other token.
 */
export function agentToken(key: string, executionId: string): string {
  return `${AGENT_MARK}${executionId}.${macOf(key, `agent-token:${executionId}`)}`;
}

/** Returns the execution of an agent's token; null: it is no agent's token, or a forged one. */
export function executionOfAgentToken(key: string, token: string): string | null {
  if (!token.startsWith(AGENT_MARK)) return null;
  const [id = '', mac = '', more] = token.slice(AGENT_MARK.length).split('.');
  if (more !== undefined || !isUuid(id)) return null;
  const expected = Buffer.from(macOf(key, `agent-token:${id}`));
  const given = Buffer.from(mac);
  return given.length === expected.length && timingSafeEqual(given, expected) ? id : null;
}

const macOf = (key: string, text: string): string =>
  createHmac('sha256', key).update(text).digest('hex').slice(0, 32);

export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
