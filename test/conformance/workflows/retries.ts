import type { Client } from '@baton/client';
import { letTimePass } from '@baton/testkit/let-time-pass';
import { call } from '../../harness/session';

/** Retry configuration of the manager with which a step was recorded. */
export interface Retries {
  task_retries: number;
  subgraph_retries: number;
}

/** Services read the configuration every 10 s; this is the time to wait for it. */
const READ_MS = 12_000;

/** Returns the retries of the step, else the retries with which the scenarios were recorded. */
export function retriesOf(step: { task_retries?: number | null; subgraph_retries?: number | null }): Retries {
  return { task_retries: step.task_retries ?? 2, subgraph_retries: step.subgraph_retries ?? 0 };
}

/**
 * Returns a function that sets the configuration if it differs from the current one, and waits until executions are planned with
 * it.
 */
export function configuredRetries(client: Client, first: Retries): (wanted: Retries) => Promise<void> {
  let inForce = first;
  return async (wanted) => {
    const changed = (['task_retries', 'subgraph_retries'] as const).filter(
      (name) => wanted[name] !== inForce[name],
    );
    if (changed.length === 0) return;
    for (const name of changed) await call(client, 'putConfig', { name }, { value: wanted[name] });
    await letTimePass(READ_MS, 'nothing tells which values a replica has read');
    inForce = wanted;
  };
}
