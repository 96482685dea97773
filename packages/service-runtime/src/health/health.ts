/** /healthz: the process lives. /readyz: the infrastructure that it needs is available. */
import type { PlainAnswer } from '@baton/http';
import { answerWithin, systemClock } from '@baton/kernel';
import { productVersion } from '../version';

/** A check throws its fault; it may return a text that is shown although all is well. */
export type Checks = Record<string, () => Promise<string | void>>;
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
  /** 503 names the failed checks. `url`: with `?exclude=broker` that check is only reported. */
  readyz(url?: string): Promise<PlainAnswer>;
}

const CHECK_LIMIT_MS = 2_000;
const CACHE_MS = 1_000;

async function runCheck(check: Checks[string]): Promise<CheckResult> {
  try {
    return { ok: true, detail: (await answerWithin(CHECK_LIMIT_MS, check())) ?? '' };
  } catch (error) {
    return { ok: false, detail: reasonOf(error as NodeJS.ErrnoException) };
  }
}

/** Several failed addresses come as one error without a message. */
function reasonOf({ message, code }: NodeJS.ErrnoException): string {
  return message || code || 'failed';
}

/** The checks of readiness. `others`: health of the services in the same process, on whose work the answers of this one depend. */
export interface HealthOptions {
  required: Checks;
  /** Only reported: the cache, without which everything still works. */
  optional: Checks;
  others?: () => readonly { name: string; health: Health }[];
}

/**
 * Creates the health checks of a service. /readyz tells whether everything that the service needs is available. A load balancer
 * that removes every replica while the broker is away would do harm, since reads still work and messages wait in the outbox: so it
 * uses `?exclude=broker`.
 */
export function createHealth(
  service: string,
  { required, optional, others = () => [] }: HealthOptions,
): Health {
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
    async readyz(url = '') {
      if (stage !== 'ready') return json(503, { status: stage, service });
      const [own, behind] = await Promise.all([results(), failuresOf(others(), required)]);
      const checks = { ...own, ...behind };
      const excluded = new Set(new URLSearchParams(url.split('?')[1] ?? '').getAll('exclude'));
      const isReady = Object.entries(checks).every(
        ([name, { ok }]) =>
          ok || excluded.has(name) || (Object.hasOwn(optional, name) && !Object.hasOwn(required, name)),
      );
      return json(isReady ? 200 : 503, { status: isReady ? 'ready' : 'failing', service, checks });
    },
  };
}

/** Failed checks of other services in the process, each name once: services that share a server report the same fault. */
async function failuresOf(
  others: readonly { name: string; health: Health }[],
  own: Checks,
): Promise<Record<string, CheckResult>> {
  const failures: Record<string, CheckResult> = {};
  const all = await Promise.all(others.map(({ health }) => health.results()));
  for (const results of all)
    for (const [name, result] of Object.entries(results))
      if (!result.ok && name !== 'cache' && !Object.hasOwn(own, name)) failures[name] ??= result;
  return failures;
}
