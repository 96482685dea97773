import { type AddressInfo, createServer } from 'node:net';
import type { Isolation, IsolationSettings } from '../port';
import { runInside } from '../probe';

/** Prints `open` when connected, `held` when the connection is not made, else the error. */
const CONNECT = `command -v bash >/dev/null || { echo 'there is no bash to try it with'; exit 0; }
bash -c 'exec 3<>/dev/tcp/127.0.0.1/'"$1"' && echo open || echo held' 2>/dev/null &
i=0
while kill -0 $! 2>/dev/null && [ $i -lt 100 ]; do
  i=$((i+1))
  if grep -q "^ *[0-9]*: [0-9A-F]*:[0-9A-F]* 0100007F:$2 02 " /proc/net/tcp; then
    # Sent, and not answered at once as it is on one machine. It would be tried for minutes.
    if [ $i -gt 2 ]; then echo held; kill $!; exit 0; fi
  fi
  sleep 0.02
done
wait`;

/**
 * Tests the policy with real connections of an operation to a port of this process: one must be refused, the other must
 * pass.
 * @returns null, or the reason why the policy does not hold
 */
export function probeEgress(
  isolation: Isolation,
  settings: IsolationSettings,
  { admit, dismiss }: { admit(port: number): void; dismiss(port: number): void },
): string | null {
  // Listens synchronously because no address is given. The kernel completes connections; nobody accepts them.
  const server = createServer((socket) => socket.destroy());
  try {
    server.listen(0);
    const { port } = server.address() as AddressInfo;
    const connect = (): string => {
      const hex = port.toString(16).toUpperCase().padStart(4, '0');
      const command = { program: '/bin/sh', args: ['-c', CONNECT, 'sh', String(port), hex] };
      const end = runInside(isolation, settings, () => command);
      return end.stdout.trim() || end.reason;
    };
    const refused = connect();
    if (refused !== 'held') return refused === 'open' ? 'its rules do not act here' : refused;
    admit(port);
    const allowed = connect();
    dismiss(port);
    return allowed === 'open' ? null : `what is allowed does not get through: ${allowed}`;
  } catch (error) {
    return (error as Error).message;
  } finally {
    server.close();
  }
}
