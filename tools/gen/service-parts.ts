// Composes each service as its service.ts does, with stand-ins for everything external: nothing connects and nothing starts. The
// composed parts describe what the service serves, receives and runs.
import { join } from 'node:path';
import { systemClock } from '../../packages/kernel/src/index';
import {
  type ConfigSchema,
  type Infra,
  loadConfig,
  type ServiceParts,
} from '../../packages/service-runtime/src/index';

interface ServiceModule {
  configSchema: ConfigSchema;
  buildService(config: unknown, infra: Infra): ServiceParts | Promise<ServiceParts>;
}

/** Values that a configuration requires. `none` prevents the worker from probing its isolation. */
const env = {
  BATON_INTERNAL_KEY: 'only-for-generated-pages-0123456789',
  BATON_WORKER_JOIN_TOKEN: 'only-for-generated-pages-join',
  BATON_SECRETS_KEY: Buffer.alloc(32).toString('base64'),
  BATON_WORKER_ISOLATION: 'none',
};

/**
 * Returns a stand-in: every property and every call result of it is a stand-in again. It is not a promise and has no string
 * value.
 */
function standIn(): never {
  return new Proxy(() => undefined, {
    get: (_, name) => (name === 'then' || typeof name === 'symbol' ? undefined : standIn()),
    apply: standIn,
    construct: standIn,
  }) as never;
}

/** Returns the parts of one service. @throws when service.ts needs a value at composition that a stand-in cannot provide */
export async function composedParts(root: string, service: string): Promise<ServiceParts> {
  const module = (await import(join(root, 'services', service, 'src/service.ts'))) as ServiceModule;
  const config = loadConfig(module.configSchema, { ...env });
  return module.buildService(config, { ...infra(), db: service === 'gateway' ? undefined : standIn() });
}

function infra(): Infra {
  return {
    broker: standIn(),
    cache: standIn(),
    rpc: standIn(),
    blobs: standIn(),
    log: standIn(),
    clock: systemClock,
    metrics: standIn(),
    trust: standIn(),
    instanceId: 'generated-pages',
    close: async () => undefined,
  };
}
