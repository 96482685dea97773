import { silentLog } from '@baton/kernel';
import { restartablePostgres } from '@baton/testkit';
import { describeBroker, sampleStepsMs, sampleTopology } from '../broker.contract';
import { createPostgresBroker } from './postgres-broker';

describeBroker('PostgreSQL broker', async () => {
  const server = await restartablePostgres();
  return {
    connect: () =>
      createPostgresBroker({
        url: server.url,
        log: silentLog,
        topology: sampleTopology,
        retryStepsMs: sampleStepsMs,
      }),
    restart: server.restart,
    close: server.close,
  };
});
