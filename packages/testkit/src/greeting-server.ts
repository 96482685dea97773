import { connect } from 'node:net';
import { type ServerProcess, serverProcess } from './server-process';

const START_MS = 20_000;

/** A server that speaks first, at the loopback address. It is ready when it greets. */
export function greetingServer(options: { command: string; args: string[]; port: number }): ServerProcess {
  const { command, args, port } = options;
  return serverProcess({ command, args, isReady: () => greets(port), startTimeoutMs: START_MS });
}

/** @throws Error until the server says something */
function greets(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the server closes the connection')));
    socket.once('data', () => {
      socket.destroy();
      resolve();
    });
  });
}
