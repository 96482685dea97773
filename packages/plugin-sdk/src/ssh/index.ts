export { connect, type SshConnection } from './connection';
export type { FileOptions } from './files';
export type { OpenForward } from './forward';
export { fingerprintOf } from './host-key';
export { plainLine } from './lines';
export type { ConnectOptions, KnownHosts, Login, RunOptions, RunResult, SudoOptions } from './options';
export { quote } from './quote';
export { type RemoteScript, runScriptAt } from './run-script';
