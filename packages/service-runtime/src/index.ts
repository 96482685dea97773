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
} from './config/config';
export { envValue } from './config/env-value';
export { defaultPorts, schemaOf } from './config/ports';
export { type RuntimeConfig, retryVariables, runtimeConfig } from './config/runtime-config';
export { type CheckResult, createHealth, type Health } from './health/health';
export type { Metrics } from './health/metrics';
export {
  createLocalHttp,
  type HttpHandle,
  type Infra,
  type LocalHttp,
  requireDb,
} from './lifecycle/infra-types';
export { logRejections, type RunOptions, runService } from './lifecycle/run-service';
export {
  type ConsumerPart,
  consumerPart,
  type RpcPart,
  rpcPart,
  type ServedSideDoor,
  type ServiceParts,
  type SubscriptionPart,
  subscriptionPart,
} from './lifecycle/service-parts';
export {
  type Running,
  type RunningService,
  type StartEntry,
  type StartOptions,
  startParts,
} from './lifecycle/start-parts';
export { waitForSchema } from './lifecycle/wait-for-schema';
export { type LeasedWork, leasedWork } from './loops/leased-work';
export { type Looks, lookUntil } from './loops/look-until';
export { type Loop, type RunningLoop, startLoop } from './loops/loops';
export { temporarySweep } from './loops/temporary-sweep';
export { createTenantLimits, type TenantLimitsSource } from './loops/tenant-limits';
export { underLease } from './loops/under-lease';
export { createLogger, type LoggerOptions } from './telemetry/logger';
export {
  CpuLimitError,
  type CpuPool,
  type CpuPoolOptions,
  createCpuPool,
} from './threads/cpu-pool';
export { limitHeapGrowth } from './threads/heap-growth';
export { resolveWorkerFile, startThread } from './threads/thread';
export { guardOf, requireTrust, sealsOfAll } from './transport/identity';
export { rawHttpSettings } from './transport/raw-http';
export {
  openTransport,
  type Transport,
  type TransportConfig,
  transportProblems,
} from './transport/transport';
export type { WorkerCredential } from './transport/worker-credential';
export { productVersion } from './version';
