export { eventually } from './eventually';
export { setFakeNow } from './fake-now';
export { freePort } from './free-port';
export { greetingServer } from './greeting-server';
export { testNamespace } from './namespace';
export type { Described, DescribedTable } from './prisma-schema/described-table';
export { parseSchema } from './prisma-schema/parse-schema';
export { readTables } from './prisma-schema/read-tables';
export {
  type RestartablePostgres,
  type RestartableServer,
  restartablePostgres,
  type ServerCertificate,
} from './restartable-postgres';
export { type RestartableRabbit, restartableRabbit } from './restartable-rabbit';
export { restartableRedis } from './restartable-redis';
export { type TestS3, testS3 } from './s3-server';
export { type ServerProcess, serverProcess } from './server-process';
export { testUrls, withDatabase } from './services';
export { mountSmallDisk, onSmallDisks, type SmallDisk } from './small-disk';
export { type SshHost, sshHost } from './ssh-host';
export { type TcpProxy, tcpProxy } from './tcp-proxy';
export {
  dropWithRoles,
  type TestDatabase,
  type TestDatabaseOptions,
  testDatabase,
  withoutDiskWaits,
} from './test-database';
export { type TestSignal, testSignals } from './test-signals';
export { vacuumAnalyze } from './vacuum-analyze';
