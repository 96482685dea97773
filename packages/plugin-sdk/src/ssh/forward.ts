import type { Duplex } from 'node:stream';
import type { Client } from 'ssh2';
import { RetryableError } from '../errors';

/** A port of the host that leads back here. */
export interface OpenForward {
  /** At the loopback address of the host. */
  readonly port: number;
  close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';

/** The forwarded ports of one connection: the library tells all incoming connections to all listeners. */
export class Forwards {
  readonly #client: Client;
  readonly #name: string;
  readonly #listeners = new Map<number, (connection: Duplex) => void>();

  constructor(client: Client, name: string) {
    this.#client = client;
    this.#name = name;
    client.on('tcp connection', ({ destPort }, accept, reject) => {
      const listener = this.#listeners.get(destPort);
      if (listener === undefined) return void reject();
      const connection = accept();
      // A client that goes away in the middle is no failure of the operation.
      connection.on('error', () => undefined);
      listener(connection);
    });
  }

  /** @throws RetryableError when the host does not allow it */
  back(onConnection: (connection: Duplex) => void): Promise<OpenForward> {
    return new Promise((resolve, reject) => {
      this.#client.forwardIn(LOOPBACK, 0, (error, port) => {
        if (error !== undefined)
          return reject(
            new RetryableError(
              `${this.#name} forwards no port (AllowTcpForwarding of its sshd): ${error.message}`,
              { cause: error },
            ),
          );
        this.#listeners.set(port, onConnection);
        resolve({ port, close: () => this.#close(port) });
      });
    });
  }

  /** A connection from the host to an address that it reaches. @throws RetryableError when it does not */
  to(host: string, port: number): Promise<Duplex> {
    return new Promise((resolve, reject) => {
      this.#client.forwardOut(LOOPBACK, 0, host, port, (error, channel) => {
        if (error === undefined) resolve(channel);
        else
          reject(
            new RetryableError(`${this.#name} does not reach ${host}:${port}: ${error.message}`, {
              cause: error,
            }),
          );
      });
    });
  }

  /** A connection to a Unix socket of the host. @throws RetryableError when there is none, or its sshd does not allow it */
  toSocket(path: string): Promise<Duplex> {
    return new Promise((resolve, reject) => {
      this.#client.openssh_forwardOutStreamLocal(path, (error, channel) => {
        if (error === undefined) resolve(channel);
        else
          reject(
            new RetryableError(`${this.#name} does not reach ${path}: ${error.message}`, { cause: error }),
          );
      });
    });
  }

  #close(port: number): Promise<void> {
    this.#listeners.delete(port);
    return new Promise((resolve) => {
      try {
        this.#client.unforwardIn(LOOPBACK, port, () => resolve());
      } catch {
        // The connection has ended, and its ports with it.
        resolve();
      }
    });
  }
}
