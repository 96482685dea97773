import { runService } from '@baton/service-runtime';
import { buildService, configSchema, serviceName } from './service';

void runService({ name: serviceName, configSchema, build: buildService });
