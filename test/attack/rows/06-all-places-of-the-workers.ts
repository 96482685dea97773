import { join } from 'node:path';
import { eventually } from '@baton/testkit';
import { root } from '../../harness/processes';
import { archiveOf, call, follow, upload } from '../../harness/session';
import { control, held, type Row } from '../row';

/** Duration of each operation that fills the workers. */
const SLEEP_S = 25;
const COUNT = 80;
/** Less than the wait until one of them ends. Generous, because times on a shared machine are not exact. */
const LIMIT_MS = 10_000;

export const row: Row = {
  name: '6',
  title: `${COUNT} operations of sleep ${SLEEP_S} of one tenant on two workers`,
  modes: ['standalone', 'services'],
  async run({ clientOf, user, victim }) {
    const archive = archiveOf(join(root, 'test/e2e/blueprints/sleeper'));
    const [greedy, other] = [clientOf(user), clientOf(victim)];
    await upload(other, 'echo', archive);
    await call(other, 'createDeployment', { id: 'echo' }, { blueprint_id: 'echo', inputs: { seconds: '0' } });
    control((await follow(other, 'echo', 'install')).status === 'terminated', 'the other tenant alone');
    await upload(greedy, 'many', archive);
    const inputs = { seconds: String(SLEEP_S), count: COUNT };
    await call(greedy, 'createDeployment', { id: 'many' }, { blueprint_id: 'many', inputs });
    const started = { deployment_id: 'many', workflow_id: 'install' };
    const { id: executionId } = await call(greedy, 'startExecution', {}, started);
    const why = async (): Promise<string[]> =>
      (await call(greedy, 'explainExecution', { executionId })).waiting_for.map(
        (one: { kind: string }) => one.kind,
      );
    // Some operations run, and others wait for the tenant's share.
    await eventually(async () => (await why()).includes('share'));
    const from = performance.now();
    const { status } = await follow(other, 'echo', 'reinstall');
    const tookMs = Math.round(performance.now() - from);
    const isStill = (await call(greedy, 'getExecution', { executionId })).status === 'started';
    await call(greedy, 'actOnExecution', { executionId }, { action: 'force-cancel' });
    control(isStill, 'the many were over before');
    return held(
      status === 'terminated' && tookMs < LIMIT_MS,
      `the other tenant's ${status} after ${tookMs} ms`,
    );
  },
};
