/** The life of a service process: configuration, infrastructure, parts, signals. main.ts only calls this. */
import type { ServiceName } from '@baton/contracts';
import { createFloodLog, type Log, systemClock } from '@baton/kernel';
import {
  CONFIG_EXIT_CODE,
  ConfigError,
  type ConfigOf,
  type ConfigSchema,
  loadConfig,
  misspeltVariables,
} from '../config/config';
import { schemaOf } from '../config/ports';
import type { RuntimeConfig } from '../config/runtime-config';
import { createLogger } from '../telemetry/logger';
import { startTelemetry } from '../telemetry/telemetry';
import { limitHeapGrowth } from '../threads/heap-growth';
import { openTransport, type Transport, transportProblems } from '../transport/transport';
import type { Infra } from './infra-types';
import type { ServiceParts } from './service-parts';
import { type Running, startParts } from './start-parts';
import { startProblem } from './start-problem';
import { migrationsDir, waitForSchema } from './wait-for-schema';

export interface RunOptions<S extends ConfigSchema> {
  name: ServiceName;
  /** `runtimeConfig.extend({...})` */
  configSchema: S;
  build: (config: ConfigOf<S>, infra: Infra<any>) => ServiceParts | Promise<ServiceParts>;
  /** Default: the schema of the service's name; gateway and worker have none. */
  schema?: string | null;
  env?: Record<string, string | undefined>;
}

function configOf<S extends ConfigSchema>(
  o: RunOptions<S>,
  env: Record<string, string | undefined>,
): ConfigOf<S> {
  return orConfigExit(o.name, () => {
    const config = loadConfig(o.configSchema, env);
    const hasDatabase = (o.schema === undefined ? schemaOf(o.name) : o.schema) !== null;
    const problems = transportProblems(config, { hasDatabase, isEdge: o.name === 'gateway' });
    if (o.name === 'worker') problems.push(...keyProblems(env));
    if (problems.length > 0) throw new ConfigError(problems);
    return config;
  });
}

/** Anyone who can read a worker's environment would know these secrets. */
const NOT_FOR_WORKERS = ['BATON_INTERNAL_KEY', 'BATON_SECRETS_KEY', 'BATON_ADMIN_PASSWORD', 'DATABASE_URL'];

function keyProblems(env: Record<string, string | undefined>): string[] {
  return NOT_FOR_WORKERS.filter((name) => (env[name] ?? '') !== '').map(
    (name) => `${name}: not for workers, which join with BATON_WORKER_JOIN_TOKEN alone`,
  );
}

/** Runs `read`; a configuration error, which only an operator can fix, ends the process with its own exit code and no stack. */
function orConfigExit<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${name}: ${error.message}\n`);
    process.exit(CONFIG_EXIT_CODE);
  }
}

async function start<S extends ConfigSchema>(
  o: RunOptions<S>,
  config: ConfigOf<S>,
  log: Log,
  transport: Transport,
): Promise<{ running: Running; infra: Infra<any> }> {
  const runtime = config as unknown as RuntimeConfig;
  const schema = o.schema === undefined ? schemaOf(o.name) : o.schema;
  const { connectInfra } = await import('@baton/service-runtime/infra');
  const infra = await connectInfra(runtime, { service: o.name, schema, log, shared: { transport } });
  if (infra.trust && runtime.BATON_TRUST_FILE === undefined)
    log.warn({}, 'identity derived from BATON_INTERNAL_KEY: whoever knows that key can be any service');
  try {
    const dir = require.main ? migrationsDir(o.name, require.main.filename) : null;
    if (infra.db && schema && dir)
      await waitForSchema(infra.db, { schema, dir, limitMs: runtime.BATON_START_WAIT, log });
    const parts = await o.build(config, infra);
    return { running: await startParts([{ parts, infra }], { config: runtime }), infra };
  } catch (error) {
    await infra.close();
    throw error;
  }
}

/** First signal: drain and stop; second signal: exit at once. */
function onSignals(log: Log, stop: () => Promise<void>): void {
  let isStopping = false;
  const receive = (signal: NodeJS.Signals): void => {
    if (isStopping) process.exit(1);
    isStopping = true;
    log.info({ signal }, 'stopping');
    stop().then(
      () => process.exit(0),
      (error) => {
        log.error({ err: error }, 'stop failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', receive);
  process.on('SIGINT', receive);
}

/**
 * Handles faults that no code caught. After a rejected promise only the work that waited for it is incomplete: the error is logged,
 * and no request can end the process of all users by it. After a thrown error the state is unknown: the process ends, and its
 * leases and messages go to others.
 */
function onFaults(log: Log): void {
  logRejections(log);
  process.on('uncaughtException', (error) => {
    log.error({ err: error }, 'unhandled fault; the process ends');
    process.exit(70);
  });
}

/** Logs unhandled rejections, each kind once a minute. */
export function logRejections(log: Log): void {
  const floods = createFloodLog(log, systemClock);
  process.on('unhandledRejection', (error) => {
    const what = error instanceof Error ? error.message : String(error);
    floods.error('process', what, { err: error }, 'unhandled rejection');
  });
}

/**
 * Ends a process that depends on its parent instead of a server, when the parent is gone: its results cannot be reported any more,
 * and the next parent starts another process. Its leases run out.
 */
function endWithParent(log: Log): void {
  const end = (): void => {
    log.error({}, 'the process that started this one is gone; it ends as well');
    process.exit(1);
  };
  if (process.connected) process.once('disconnect', end);
  else end();
}

/**
 * Runs a service until SIGTERM or SIGINT. Exit codes: 0 stopped, 78 wrong configuration, 1 could not start or stop,
 * 70 unhandled fault.
 */
export async function runService<S extends ConfigSchema>(o: RunOptions<S>): Promise<void> {
  const env = o.env ?? process.env;
  const config = configOf(o, env);
  const runtime = config as unknown as RuntimeConfig;
  const log = createLogger({
    service: o.name,
    level: runtime.BATON_LOG_LEVEL,
    instanceId: runtime.BATON_INSTANCE_ID,
  });
  for (const { name, nearest } of misspeltVariables(o.configSchema, env))
    log.warn({ variable: name, nearest }, 'unknown variable; a misspelling?');
  onFaults(log);
  if (runtime.BATON_RPC_PARENT) endWithParent(log);
  const transport = orConfigExit(o.name, () => openTransport(runtime, log));
  const stopTelemetry = await startTelemetry(o.name, env, log);
  try {
    const { running, infra } = await start(o, config, log, transport);
    limitHeapGrowth();
    onSignals(log, async () => {
      await running.stop();
      await infra.close();
      transport.close();
      await stopTelemetry();
      log.info({}, 'stopped');
    });
  } catch (error) {
    const problem = startProblem(error);
    if (problem) log.error({ reason: problem.text }, 'could not start');
    else log.error({ err: error }, 'could not start');
    process.exit(problem?.exitCode ?? 1);
  }
}
