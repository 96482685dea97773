import { eventually } from '@baton/testkit';
import { startFleet } from '../../harness/fleet';
import { freePorts } from '../../harness/processes';
import { adminClient, call } from '../../harness/session';
import { control, held, type Row } from '../row';

const FILE = '/no/such/handlers.js';

export const row: Row = {
  name: '14',
  title: 'a worker whose file of handlers cannot be loaded',
  modes: ['standalone'],
  async run({ dist, ask }) {
    control((await ask('/readyz')).status === 200, 'one with handlers is not ready either');
    const [ops] = await freePorts(1);
    const fleet = await startFleet({
      mode: 'standalone',
      dist,
      env: { BATON_WORKER_HANDLERS: FILE, BATON_OPS_PORT: String(ops) },
      // The manager must not become ready, so the test does not wait for it.
      isReadyAwaited: false,
    });
    try {
      const admin = adminClient(fleet);
      // The operators' port tells the reason; users see only that the manager is not ready.
      const readyz = (origin: string): Promise<string> =>
        fetch(`${origin}/readyz`).then(async (answer) => `${answer.status} ${await answer.text()}`);
      const happened = await eventually(async () => {
        const [toUsers, toOperators] = [await readyz(fleet.baseUrl), await readyz(`http://127.0.0.1:${ops}`)];
        const status = JSON.stringify(await call(admin, 'getStatus', {}));
        if (toUsers.startsWith('503') && [toOperators, status].every((text) => text.includes(FILE)))
          return 'not ready, and status says why';
        throw new Error(`${toUsers}; ${toOperators}; ${status.slice(0, 300)}`);
      });
      return held(true, happened);
    } finally {
      await fleet.stop();
    }
  },
};
