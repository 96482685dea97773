import { startFleet } from '../../harness/fleet';
import { adminClient, call } from '../../harness/session';
import type { Row } from '../row';

const LIMIT_MS = 30_000;

export const row: Row = {
  number: 14,
  title: 'a worker whose file of handlers cannot be loaded',
  modes: ['standalone'],
  async run() {
    const fleet = await startFleet({
      mode: 'standalone',
      env: { BATON_WORKER_HANDLERS: '/no/such/handlers.js' },
      // It must not get ready, so it is not waited for.
      isReadyAwaited: false,
    });
    try {
      const admin = adminClient(fleet);
      const until = Date.now() + LIMIT_MS;
      let happened = 'no answer';
      while (Date.now() < until) {
        const ready = await fetch(`${fleet.baseUrl}/readyz`).then(
          async (answer) => `${answer.status} ${await answer.text()}`,
          () => '',
        );
        const status = ready === '' ? '' : JSON.stringify(await call(admin, 'getStatus', {}).catch(() => ''));
        const isTold = [ready, status].every((text) => text.includes('/no/such/handlers.js'));
        if (isTold && ready.startsWith('503'))
          return { isHeld: true, happened: 'not ready, and status says why' };
        happened = `readyz ${ready.slice(0, 200)}`;
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
      return { isHeld: false, happened };
    } finally {
      await fleet.stop();
    }
  },
};
