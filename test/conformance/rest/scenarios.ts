import { readFileSync } from 'node:fs';
import type { Client } from '@baton/client';
import { nearestName } from '@baton/kernel';
import { letTimePass } from '@baton/testkit/let-time-pass';
import { call } from '../../harness/session';

/** This scenario closes the manager, which refuses with 503 only when nothing runs any more. */
const MAINTENANCE = 'maintenance';

export interface Plan {
  /** Scenarios of each call of the driver, in the recorded order. All executions have ended before the next call begins. */
  passes: string[][];
  /** The recorded requests to judge, one JSON text each. */
  expected: string[];
}

/**
 * Returns the scenarios to play so that the scenarios of `only` (all: undefined) find the recorded state. They count objects of
 * earlier scenarios, so the earlier ones are played too, but not judged. @throws for an unknown scenario
 */
export function planScenarios(expectedFile: string, only: string[] | undefined): Plan {
  const lines = readFileSync(expectedFile, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  const scenarioOf = (line: string): string => (JSON.parse(line) as { scenario: string }).scenario;
  const all = [...new Set(lines.map(scenarioOf))];
  for (const name of only ?? []) {
    if (all.includes(name)) continue;
    const near = nearestName(name, all);
    const hint = near ? `did you mean ${near}?` : `there are ${all.join(', ')}`;
    throw new Error(`--only ${name}: no such scenario; ${hint}`);
  }
  const wanted = only ?? all;
  const played = all.slice(0, Math.max(...wanted.map((name) => all.indexOf(name))) + 1);
  const passes = [
    played.filter((name) => name !== MAINTENANCE),
    played.filter((name) => name === MAINTENANCE),
  ];
  return {
    passes: passes.filter((pass) => pass.length > 0),
    expected: lines.filter((line) => wanted.includes(scenarioOf(line))),
  };
}

/**
 * Statuses of running executions, and of executions that are about to run. Others wait for their turn or their time, or have
 * ended.
 */
const RUNNING = ['pending', 'started', 'cancelling', 'force_cancelling', 'kill_cancelling'];
const QUIET_MS = 180_000;
const LOOK_MS = 500;

/** Resolves when no execution of any tenant runs. @throws after three minutes, with the executions that still run */
export async function untilQuiet(client: Client): Promise<void> {
  const until = Date.now() + QUIET_MS;
  const query = {
    _all_tenants: true,
    _include_system_workflows: true,
    _size: 1000,
    _include: 'id,workflow_id,status',
  };
  for (;;) {
    const { items } = await call(client, 'listExecutions', {}, undefined, query);
    const running = (items as { id: string; workflow_id: string; status: string }[]).filter(({ status }) =>
      RUNNING.includes(status),
    );
    if (running.length === 0) return;
    if (Date.now() > until)
      throw new Error(
        `still running after ${QUIET_MS / 1000} s: ${running.map((one) => `${one.workflow_id} ${one.id} (${one.status})`).join(', ')}`,
      );
    await letTimePass(LOOK_MS, 'between two looks');
  }
}
