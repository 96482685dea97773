import { randomUUID } from 'node:crypto';
import { call } from '../../harness/session';
import { judge } from '../judge';
import { type Asked, startOnce, toAsk } from '../load';
import { type Rig, WORKERS } from '../rig';
import type { Outcome, Row, RowContext } from '../row';
import { until } from '../until';

const COUNT = 6;

export const crashPolicyRows: Row[] = [
  {
    id: 'F5n',
    title: 'a worker is killed in the middle of operations that are not resumable',
    pass: 'they never run again by themselves: the execution fails and says why within 25 s; resumed by hand it ends well',
    limitS: 120,
    run: neverAgain,
  },
];

async function neverAgain({ rig }: RowContext): Promise<Outcome> {
  const outcome: Outcome = { violations: [], facts: {} };
  const prefix = `once-${randomUUID().slice(0, 8)}`;
  const deployments = await rig.deployments(prefix, COUNT, { blueprint: 'once', inputs: {} });
  const asked = deployments.map((deployment) => toAsk(deployment));
  await Promise.all(asked.map((one) => startOnce(rig, one, new Map())));
  const ids = asked.flatMap((one) => [...one.ids]);
  const held = await until('floor: all operations under way', 30_000, () => {
    const runs = rig.ledger.inFlight().filter((run) => ids.includes(run.execution));
    return runs.length === COUNT ? runs : null;
  });
  const victim = held[0]!.pid;
  await rig.kill(WORKERS.find((name) => rig.process(name).pid() === victim)!);
  const killedAt = performance.now();
  const lost = held.filter((run) => run.pid === victim).map((run) => run.execution);
  const failed = await until('the ends of all', 45_000, async () => {
    const ended = await Promise.all(
      ids.map((executionId) => call(rig.client, 'getExecution', { executionId })),
    );
    return ended.every((one) => ['terminated', 'failed'].includes(one.status))
      ? ended.filter((one) => one.status === 'failed')
      : null;
  });
  const ms = performance.now() - killedAt;
  await rig.heal();
  if (failed.length !== lost.length || failed.some((one) => !lost.includes(one.id)))
    outcome.violations.push(`G4: ${lost.length} operations were lost, ${failed.length} executions failed`);
  for (const one of failed)
    if (!String(one.error).includes('not resumable'))
      outcome.violations.push(`G4: ${one.id} does not say why it failed: ${one.error}`);
  outcome.violations.push(...runsOf(rig, lost, 1));
  if (ms > 25_000) outcome.violations.push(`F5: told after ${(ms / 1000).toFixed(1)} s, allowed 25 s`);
  for (const executionId of lost)
    await call(rig.client, 'actOnExecution', { executionId }, { action: 'resume' });
  const verdict = await untilResumed(rig, lost, asked);
  outcome.violations.push(...verdict.violations, ...runsOf(rig, lost, 2));
  outcome.facts = {
    lost: lost.length,
    'told after': `${(ms / 1000).toFixed(1)} s`,
    executions: verdict.executions,
    operations: verdict.operations,
    repeated: verdict.repeats,
  };
  return outcome;
}

/** Checks that the operation of each of these executions has run exactly `times` times. */
function runsOf(rig: Rig, executions: readonly string[], times: number): string[] {
  return executions.flatMap((id) => {
    const count = rig.ledger.runs().filter((run) => run.execution === id).length;
    return count === times ? [] : [`G4: the operation of ${id} ran ${count} times, must be ${times}`];
  });
}

async function untilResumed(
  rig: Rig,
  executions: readonly string[],
  asked: readonly Asked[],
): ReturnType<typeof judge> {
  await until('G2: the ends of the resumed executions', 30_000, async () => {
    const all = await Promise.all(
      executions.map((executionId) => call(rig.client, 'getExecution', { executionId })),
    );
    return all.every((one) => one.status === 'terminated');
  });
  // A resumed execution ends twice, each time with its own terminal event. So the judge checks only executions that were not
  // lost.
  return await judge(
    rig,
    asked.filter((one) => ![...one.ids].some((id) => executions.includes(id))),
  );
}
