import type { Client } from '@baton/client';
import { letTimePass } from '@baton/testkit/let-time-pass';
import { call } from '../../harness/session';

/** Configuration of a manager that a step was recorded with. */
export interface Retries {
  task_retries: number;
  subgraph_retries: number;
}

/** Services read the configuration every 10 s. */
const READ_MS = 12_000;

/** What the step says, else what the scenarios were recorded with. */
export function retriesOf(step: { task_retries?: number | null; subgraph_retries?: number | null }): Retries {
  return { task_retries: step.task_retries ?? 2, subgraph_retries: step.subgraph_retries ?? 0 };
}

/** Sets the configuration where it differs from the one in force, and waits until executions are planned with it. */
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
