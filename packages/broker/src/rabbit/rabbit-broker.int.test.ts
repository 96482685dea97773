import { silentLog } from '@baton/kernel';
import { restartableRabbit, testNamespace } from '@baton/testkit';
import { describeBroker, sampleStepsMs, sampleTopology } from '../broker.contract';
import { createRabbitBroker } from './rabbit-broker';

describeBroker('RabbitMQ broker', async () => {
  const server = await restartableRabbit();
  const namespace = testNamespace();
  return {
    connect: () =>
      createRabbitBroker({
        url: server.url,
        log: silentLog,
        namespace,
        topology: sampleTopology,
        retryStepsMs: sampleStepsMs,
      }),
    restart: server.restart,
    close: server.close,
  };
});
