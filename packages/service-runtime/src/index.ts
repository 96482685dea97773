export type { BlobStore } from '@baton/blob-store';
export type { Broker } from '@baton/broker';
export type { Cache } from '@baton/cache';
export type { Log } from '@baton/kernel';
export {
  CONFIG_EXIT_CODE,
  ConfigError,
  type ConfigOf,
  type ConfigRow,
  type ConfigSchema,
  describeConfig,
  loadConfig,
  misspeltVariables,
} from './config';
export {
  CpuLimitError,
  type CpuPool,
  type CpuPoolOptions,
  createCpuPool,
} from './cpu-pool';
export { envValue } from './env-value';
export { type CheckResult, createHealth, type Health } from './health';
export { limitHeapGrowth } from './heap-growth';
export { guardOf, requireTrust, sealsOfAll } from './identity';
export { createLocalHttp, type HttpHandle, type Infra, type LocalHttp, requireDb } from './infra-types';
export { type LeasedWork, leasedWork } from './leased-work';
export { createLogger, type LoggerOptions } from './logger';
export { type Looks, lookUntil } from './look-until';
export { type Loop, type RunningLoop, startLoop } from './loops';
export type { Metrics } from './metrics';
export { defaultPorts, schemaOf } from './ports';
export { logRejections, type RunOptions, runService } from './run-service';
export { type RuntimeConfig, runtimeConfig } from './runtime-config';
export {
  type ConsumerPart,
  consumerPart,
  type RpcPart,
  rpcPart,
  type ServiceParts,
  type SubscriptionPart,
  subscriptionPart,
} from './service-parts';
export {
  type Running,
  type RunningService,
  type StartEntry,
  type StartOptions,
  startParts,
} from './start-parts';
export { temporarySweep } from './temporary-sweep';
export { createTenantLimits, type TenantLimitsSource } from './tenant-limits';
export { resolveWorkerFile, startThread } from './thread';
export {
  openTransport,
  type Transport,
  type TransportConfig,
  transportProblems,
} from './transport';
export { underLease } from './under-lease';
export { productVersion } from './version';
export { waitForSchema } from './wait-for-schema';
export type { WorkerCredential } from './worker-credential';
