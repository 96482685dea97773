/** Process of run-service.int.test.ts: a service without a database that only has HTTP. */
import { bindRoutes } from '@baton/http';
import { envValue, runService, runtimeConfig } from '..';

void runService({
  name: 'worker',
  configSchema: runtimeConfig.extend({
    BATON_INTERNAL_KEY: envValue.secret(16).optional(),
    BATON_WORKER_JOIN_TOKEN: envValue.secret(16),
  }),
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
