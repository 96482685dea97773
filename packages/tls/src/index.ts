export { dnsNames, type Material, TlsFileError, type TlsFiles } from './material';
export { type PostgresConnection, postgresConnection } from './postgres-connection';
export {
  type ClientTls,
  certifiedServices,
  clientTls,
  lastingClientTls,
  type ServerTls,
  type ServerTlsOptions,
  serverTls,
} from './sockets';
export { createTlsSource, type TlsSource } from './source';
