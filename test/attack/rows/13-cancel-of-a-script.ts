import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@baton/testkit';
import { root } from '../../harness/processes';
import { archiveOf, call, upload } from '../../harness/session';
import { control, held, type Row } from '../row';

/** Time for which the script may still run after the cancel. */
const GRACE_S = 3;

/** Returns processes of this machine with exactly this argument, including processes in the namespaces of operations. */
function processesWith(argument: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').includes(argument);
    } catch {
      return false;
    }
  });
}

export const row: Row = {
  name: '13',
  title: 'cancel during a script of 60 s, and an uninstall meanwhile',
  modes: ['standalone', 'ordinary user', 'services'],
  async run({ clientOf, user }) {
    const client = clientOf(user);
    const seconds = `60.0${process.pid}`;
    await upload(client, 'slow', archiveOf(join(root, 'test/e2e/blueprints/sleeper')));
    await call(client, 'createDeployment', { id: 'slow' }, { blueprint_id: 'slow', inputs: { seconds } });
    const parameters = { cancel_grace: GRACE_S };
    const started = {
      deployment_id: 'slow',
      workflow_id: 'install',
      parameters,
      allow_custom_parameters: true,
    };
    const { id: executionId } = await call(client, 'startExecution', {}, started);
    const statusOf = async (id: string): Promise<string> =>
      (await call(client, 'getExecution', { executionId: id })).status;
    const states = async (): Promise<string[]> =>
      (await call(client, 'listNodeInstances', {}, undefined, { deployment_id: 'slow' })).items.map(
        ({ state }: { state: string }) => state,
      );
    await eventually(
      async () => processesWith(seconds).length > 0 && !(await states()).includes('uninitialized'),
    );
    const answer = await call(client, 'actOnExecution', { executionId }, { action: 'cancel' });
    control(processesWith(seconds).length > 0, 'the script was over before the cancel');
    const next = { deployment_id: 'slow', workflow_id: 'uninstall', queue: true };
    const { id: uninstall } = await call(client, 'startExecution', {}, next);
    // At every moment after the uninstall has begun, the script must be dead.
    const besides: string[] = [];
    await eventually(async () => {
      const status = await statusOf(uninstall);
      if (status !== 'queued' && processesWith(seconds).length > 0) besides.push(status);
      return status === 'terminated';
    });
    const [end, left] = [await statusOf(executionId), processesWith(seconds)];
    return held(
      answer.status === 'cancelling' && end === 'cancelled' && left.length === 0 && besides.length === 0,
      `${answer.status}, then ${end}; ${left.length} processes left; the uninstall ran beside it ${besides.length} times`,
    );
  },
};
