import { createSocket } from 'node:dgram';

/** Returns the wall clock with fractions of a millisecond; the same for all processes of a machine. */
export const wallMs = (): number => performance.timeOrigin + performance.now();

/** Collects the start times of operations: handlers send `<id> <time>` as datagrams over the loopback. */
export interface StartTimes {
  port: number;
  /** First start by id. */
  first: Map<string, number>;
  close(): void;
}

export async function collectStartTimes(): Promise<StartTimes> {
  const first = new Map<string, number>();
  const socket = createSocket({ type: 'udp4', recvBufferSize: 1 << 20 });
  socket.on('message', (message) => {
    const [id = '', at = ''] = message.toString().split(' ');
    if (!first.has(id)) first.set(id, Number(at));
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return { port: socket.address().port, first, close: () => socket.close() };
}

export function createStartSender(port: number): (id: string) => void {
  const socket = createSocket('udp4').unref();
  return (id) => socket.send(`${id} ${wallMs()}`, port, '127.0.0.1');
}
