/** Process of run-service.int.test.ts: a service without a database that only has HTTP. */
import { bindRoutes } from '@baton/http';
import { runService, runtimeConfig } from './index';

void runService({
  name: 'worker',
  configSchema: runtimeConfig,
  build: () => ({
    name: 'worker',
    routes: bindRoutes([], {}),
    rpc: [],
    consumers: [],
    subscriptions: [],
    loops: [],
    checks: {},
    start: async () => {
      for (let i = 0; i < Number(process.env.TESTING_REJECTIONS ?? 0); i++)
        void Promise.reject(new Error('forgotten'));
    },
  }),
});
