import type { OperationLogger } from '../context';
import type { ExitMeaning } from '../tools/exec';

/** What is known about the keys of a host. */
export type KnownHosts =
  /** Any key: whoever answers at the address can read along, also passwords. A warning is logged. */
  | 'accept'
  /** Fingerprints (`SHA256:...`) or public keys (`ssh-ed25519 AAAA...`). Another key is refused before anything is told to the host. */
  | readonly string[]
  /** The key of the first connection. `remembered`: what `remember` got then; undefined: this is the first connection. */
  | { readonly remembered: string | undefined; remember(key: string): void };

/** A host and a login there. */
export interface Login {
  host: string;
  /** Default: 22. */
  port?: number;
  user: string;
  /** Text of a private key (PEM or OpenSSH). */
  key?: string;
  /** Of the private key. */
  passphrase?: string;
  password?: string;
  /** Default: 'accept', with a warning. */
  knownHosts?: KnownHosts;
}

export interface ConnectOptions extends Login {
  /** Hosts to go through, the first one first. */
  jump?: Login | readonly Login[];
  /** Until the login has ended, for each host. Default: 10 s. */
  connectTimeoutMs?: number;
  /** Interval between signs of life; a host that misses four of them is given up. Default: 15 s. 0: none. */
  keepaliveMs?: number;
  /** Lets programs at the host log in further on with the key, which stays here. Default: false. Root at the host can use it too. */
  forwardAgent?: boolean;
  /** Ends the connection, and the commands on the host. */
  signal?: AbortSignal;
  log?: Pick<OperationLogger, 'debug' | 'warning'>;
}

export interface SudoOptions {
  /** Default: root. */
  user?: string;
  /** Written to the standard input of sudo, never into its arguments. */
  password?: string;
}

export interface RunOptions {
  /** Variables. They are sent beside the command: no other user of the host sees them in a list of processes. */
  env?: Readonly<Record<string, string>>;
  /** Folder on the host. */
  cwd?: string;
  stdin?: string | Uint8Array;
  /** Called for each line, without control characters. */
  onLine?(line: string, stream: 'stdout' | 'stderr'): void;
  /** Called for each piece of the standard output, as it is. `stdout` of the result stays empty. */
  onData?(piece: Buffer): void;
  /** Runs the command with the rights of root, or of another user. */
  sudo?: boolean | SudoOptions;
  /** A terminal: both outputs come as one. Only for programs that ask for it. */
  pty?: boolean;
  signal?: AbortSignal;
  /** Ends the command and fails. Default: no limit. */
  timeoutMs?: number;
  /** Meaning of exit codes. Default: 0 is ok, others are retryable. */
  exitCodes?: Readonly<Record<number, ExitMeaning>>;
}

export interface RunResult {
  exitCode: number;
  /** The last MiB of each output. */
  stdout: string;
  stderr: string;
}
