/** Two kinds of connections on one port: the first bytes of each say to which server it goes. */
import type { Server, Socket } from 'node:net';
import { serverNameIn, TLS_HANDSHAKE } from './server-name';

/** Takes some of the connections of a port. */
export interface SideDoor {
  /** Server name that the clients of the door ask for in TLS. On a port without TLS, every TLS connection is for the door. */
  serverName: string;
  /** Takes a connection, paused; the bytes that came first are in its buffer. */
  accept(socket: Socket): void;
}

/** Undefined: more bytes are needed. */
type Judge = (bytes: Buffer) => boolean | undefined;

interface SplitOptions {
  door: SideDoor;
  /** Whether the server itself speaks TLS. */
  isTls: boolean;
  /** How long the first bytes may take. */
  waitMs: number;
  /** Answers a client that says nothing; the connection is closed in any case. */
  onLate(socket: Socket): void;
}

const ignore = (): void => undefined;

/**
 * Puts `door` before the server: from now on each connection is looked at before the server gets it. Returns the function that
 * closes the connections that have not shown what they are.
 */
export function splitConnections(server: Server, o: SplitOptions): () => void {
  const own = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  const waiting = new Set<Socket>();
  const toServer = (socket: Socket): void => {
    for (const listener of own) listener.call(server, socket);
  };
  const isForDoor: Judge = o.isTls ? byName(o.door.serverName) : isTlsConnection;
  server.on('connection', (socket: Socket) => {
    waiting.add(socket);
    judged(socket, isForDoor, o, (where, seen) => {
      waiting.delete(socket);
      if (where === 'nowhere') return;
      if (where === 'server' && !o.isTls) return handOver(socket, seen, toServer);
      socket.pause();
      socket.unshift(seen);
      if (where === 'door') o.door.accept(socket);
      else toServer(socket);
    });
  });
  return () => {
    for (const socket of waiting) socket.destroy();
  };
}

const isTlsConnection: Judge = (bytes) => bytes[0] === TLS_HANDSHAKE;
const byName =
  (wanted: string): Judge =>
  (bytes) => {
    const name = serverNameIn(bytes);
    return name === undefined ? undefined : name === wanted;
  };

/**
 * Gives a flowing connection to a server of node:http. The server then reads past the stream, and stops to read by its pause. So the
 * stream must be as that of a new connection: it flows, it is reading, and nothing is in its buffer. A buffer, or a read that is
 * asked for later, would start the connection again behind a pause, and a body that nobody reads yet would fill the memory.
 */
function handOver(socket: Socket, seen: Buffer, toServer: (socket: Socket) => void): void {
  socket.read(0);
  toServer(socket);
  socket.emit('data', seen);
}

/** Waits for the first bytes. `nowhere`: the connection has ended. */
function judged(
  socket: Socket,
  isForDoor: Judge,
  { waitMs, onLate }: SplitOptions,
  done: (where: 'door' | 'server' | 'nowhere', seen: Buffer) => void,
): void {
  let seen: Buffer = Buffer.alloc(0);
  const finish = (where: 'door' | 'server' | 'nowhere'): void => {
    clearTimeout(timer);
    socket.off('data', look);
    socket.off('end', end);
    socket.off('close', leave);
    done(where, seen);
    if (where !== 'nowhere') socket.off('error', ignore);
  };
  const look = (bytes: Buffer): void => {
    seen = seen.length === 0 ? bytes : Buffer.concat([seen, bytes]);
    const answer = isForDoor(seen);
    if (answer !== undefined) finish(answer ? 'door' : 'server');
  };
  const leave = (): void => finish('nowhere');
  const end = (): void => {
    socket.destroy();
  };
  const timer = setTimeout(() => {
    finish('nowhere');
    onLate(socket);
  }, waitMs);
  socket.on('error', ignore);
  socket.on('data', look);
  socket.once('end', end);
  socket.once('close', leave);
}
