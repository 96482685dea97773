import { createServer } from 'node:net';
import { portMistake } from './first-mistakes';
import { StartRefused } from './refusal';

/**
 * Checks whether the port is free, before anything is started; null: it is. Another program may still take it before the gateway
 * listens; then the gateway fails, and the started parts are undone.
 */
export async function portProblem(host: string, port: number): Promise<StartRefused | null> {
  if (port === 0) return null;
  const server = createServer();
  const error = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
    server.once('error', resolve);
    server.listen(port, host, () => resolve(null));
  });
  if (error === null) {
    await new Promise((resolve) => server.close(resolve));
    return null;
  }
  const known = ['EADDRINUSE', 'EACCES'].includes(error.code ?? '') ? error.code! : 'EADDRNOTAVAIL';
  const { text, exitCode } = portMistake(host, port, known);
  return new StartRefused(text, exitCode as 1 | 78, { cause: error });
}
