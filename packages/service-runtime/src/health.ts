/** /healthz: the process lives. /readyz: it may get traffic. */
import type { PlainAnswer } from '@baton/http';
import { systemClock } from '@baton/kernel';
import { productVersion } from './version';

export type Checks = Record<string, () => Promise<void>>;
export interface CheckResult {
  ok: boolean;
  detail: string;
}
export type Stage = 'starting' | 'ready' | 'stopping';

export interface Health {
  setStage(stage: Stage): void;
  stage(): Stage;
  /** Results of all checks, at most a second old. */
  results(): Promise<Record<string, CheckResult>>;
  healthz(): Promise<PlainAnswer>;
  readyz(): Promise<PlainAnswer>;
}

const CHECK_LIMIT_MS = 2_000;
const CACHE_MS = 1_000;

async function runCheck(check: () => Promise<void>): Promise<CheckResult> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${CHECK_LIMIT_MS} ms`)), CHECK_LIMIT_MS);
  });
  try {
    await Promise.race([check(), late]);
    return { ok: true, detail: '' };
  } catch (error) {
    return { ok: false, detail: (error as Error).message };
  } finally {
    clearTimeout(timer);
  }
}

/**
 * `required` checks decide readiness; `optional` ones (broker, cache) are only reported: without them reads still
 * work and facts wait in the outbox, so taking every replica out of service would make it worse.
 */
export function createHealth(service: string, required: Checks, optional: Checks): Health {
  let stage: Stage = 'starting';
  let cached: { atMs: number; results: Promise<Record<string, CheckResult>> } | null = null;
  const all = Object.entries({ ...optional, ...required });
  const results = (): Promise<Record<string, CheckResult>> => {
    if (cached && systemClock.monotonic() - cached.atMs < CACHE_MS) return cached.results;
    const run = Promise.all(all.map(async ([name, check]) => [name, await runCheck(check)] as const)).then(
      Object.fromEntries,
    );
    cached = { atMs: systemClock.monotonic(), results: run };
    return run;
  };
  const json = (status: number, body: object): PlainAnswer => ({
    status,
    contentType: 'application/json',
    body: JSON.stringify(body),
  });
  return {
    stage: () => stage,
    setStage: (next) => {
      stage = next;
    },
    results,
    healthz: async () => json(200, { status: 'ok', service, version: productVersion }),
    async readyz() {
      if (stage !== 'ready') return json(503, { status: stage, service });
      const checks = await results();
      const isReady = Object.keys(required).every((name) => checks[name]?.ok);
      return json(isReady ? 200 : 503, { status: isReady ? 'ready' : 'failing', service, checks });
    },
  };
}
