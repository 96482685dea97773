import { ApiError, type Client } from '@baton/client';
import { route } from '../harness/session';
import { Refused, until } from './until';

// biome-ignore lint/suspicious/noExplicitAny: answers of all routes; the rows say what they expect.
type Answer = any;

interface Asking {
  params?: Record<string, string>;
  query?: object;
  body?: object;
  idempotencyKey?: string;
  limitMs?: number;
  /** Error codes that mean that an earlier attempt already succeeded; the result is null then. */
  isDone?: readonly string[];
}

const CALL_MS = 15_000;
const LIMIT_MS = 60_000;

/** Sends one call and retries it while faults prevent an answer. @throws Refused for an answer that no fault explains */
export async function ask(client: Client, id: string, args: Asking = {}): Promise<Answer> {
  const { limitMs = LIMIT_MS, isDone = [], ...call } = args;
  const { answer } = await until(`an answer to ${id}`, limitMs, async () => {
    try {
      return { answer: await client.call(route(id) as never, { ...call, timeoutMs: CALL_MS } as never) };
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) return null;
      if (isDone.includes(error.errorCode)) return { answer: null };
      throw new Refused(`${id} was refused: ${error.status} ${error.errorCode}: ${error.message}`);
    }
  });
  return answer;
}
