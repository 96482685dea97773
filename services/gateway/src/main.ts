import { runService } from '@baton/service-runtime';
import { buildService, configSchema, serviceName } from './service';

void runService({
  name: serviceName,
  configSchema,
  build: buildService,
  env: { ...process.env, BATON_HTTP_PORT: process.env.BATON_PORT || process.env.BATON_HTTP_PORT },
});
