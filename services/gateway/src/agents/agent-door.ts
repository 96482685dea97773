/**
 * The listener of agents on the port of the API: mutual TLS with the authorities of agents, their stream, their requests, and the
 * API for programs on their hosts.
 */
import { constants } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { AGENT_SERVER_NAME, agentPaths } from '@baton/contracts';
import { createHandedServer, type HandedServer } from '@baton/http';
import { AppError, type Clock, type FloodLog } from '@baton/kernel';
import { type HttpHandle, rawHttpSettings, type ServedSideDoor } from '@baton/service-runtime';
import { WebSocketServer } from 'ws';
import { answerError } from '../answer-error';
import { UNLESS_SAID } from '../fixed-headers';
import { pathOf } from '../static-answers';
import { AgentStream, type AgentStreamDeps } from './agent-stream';
import type { AgentStreams } from './agent-streams';
import { createHandshakes, type HandshakeSettings } from './handshakes';
import type { ListenerMaterial } from './listener-certificate';
import { notePeer, type Peer, peerOf, peerOfRequest } from './peer';

export interface AgentDoorDeps extends Omit<AgentStreamDeps, 'admitted' | 'ended'> {
  streams: AgentStreams;
  maxAgents: number;
  handshakes: HandshakeSettings;
  /** How the agents are spread that leave when the gateway stops, ms. */
  leaveMs: number;
  clock: Clock;
  floods: FloodLog;
  fixedHeaders(request: IncomingMessage): readonly string[];
  /** Requests that the listener answers itself; false: it is none of these. */
  requests: readonly ((request: IncomingMessage, response: Parameters<HttpHandle>[1]) => boolean)[];
  /** A client showed a certificate that no known authority has signed. */
  onForeign(): void;
}

export interface AgentDoor extends ServedSideDoor {
  /** Applies a certificate; before the first one, connections are closed. */
  certify(material: ListenerMaterial): void;
  /** Opens a port for agents alone. */
  listen(host: string, port: number): Promise<void>;
}

/** Largest message of an agent. */
const MAX_FRAME_BYTES = 8 * 1024 * 1024;
/** Streams of one agent: the one that has its place, and those that are about to take it. */
const MAX_OF_AGENT = 4;
const HANDSHAKE_MS = 10_000;
/** A TLS connection of agents that was not resumed has shown its certificate itself: no tickets. */
const NO_TICKETS = constants.SSL_OP_NO_TICKET;

export function createAgentDoor(deps: AgentDoorDeps): AgentDoor {
  const { streams } = deps;
  let handle: HttpHandle | null = null;
  let secure: HandedServer | null = null;
  let own: Server | null = null;
  const handshakes = createHandshakes(
    deps.handshakes,
    (socket) => (secure ? secure.take(socket) : socket.destroy()),
    deps.clock.monotonic,
  );
  const accept = (socket: Socket): void => {
    // An agent that comes too early tries again.
    if (!secure || streams.isLeaving) return void socket.destroy();
    socket.setNoDelay(true);
    handshakes.add(socket);
  };
  return {
    serverName: AGENT_SERVER_NAME,
    accept,
    serve: (of) => {
      handle = of;
    },
    certify(material) {
      const context = contextOf(material);
      if (secure) secure.server.setSecureContext(context);
      else secure = secureServer(deps, context, () => handle);
    },
    async listen(host, port) {
      own = createServer({ pauseOnConnect: true }, accept);
      await listening(own, host, port);
    },
    async close() {
      handshakes.close();
      await streams.leave(deps.leaveMs);
      own?.close();
      secure?.close();
    },
  };
}

const listening = (server: Server, host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });

const contextOf = ({ key, cert, ca }: ListenerMaterial) => ({
  key,
  cert,
  ca,
  minVersion: 'TLSv1.2' as const,
  secureOptions: NO_TICKETS,
});

function secureServer(
  deps: AgentDoorDeps,
  context: ReturnType<typeof contextOf>,
  handle: () => HttpHandle | null,
): HandedServer {
  const secure = createHandedServer((request, response) => answer(deps, handle(), request, response), {
    ...rawHttpSettings(),
    ...context,
    requestCert: true,
    // Browsers and programs without a certificate may use the API; what needs one is refused by path.
    rejectUnauthorized: false,
    handshakeTimeout: HANDSHAKE_MS,
  });
  const { server } = secure;
  // Before the listener of node:http: a refused connection never becomes a request.
  server.prependListener('secureConnection', (socket) => {
    const peer = peerOf(socket);
    if (peer === 'refused') return refuseForeign(deps, socket);
    if (peer) notePeer(socket, peer);
  });
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
  });
  server.on('upgrade', (request, socket, head) => upgrade(deps, sockets, request, socket, head));
  return secure;
}

function refuseForeign({ floods, onForeign }: AgentDoorDeps, socket: TLSSocket): void {
  const reason = String(socket.authorizationError);
  const address = socket.remoteAddress ?? '';
  floods.warn(address, reason, { address, reason }, 'certificate of an agent refused');
  onForeign();
  socket.destroy();
}

function answer(
  { requests, fixedHeaders }: AgentDoorDeps,
  handle: HttpHandle | null,
  request: IncomingMessage,
  response: Parameters<HttpHandle>[1],
): void {
  request.on('error', () => undefined);
  response.on('error', () => undefined);
  const path = pathOf(request.url!);
  if (path.startsWith('/api/') && handle) return handle(request, response);
  if (requests.some((one) => one(request, response))) return;
  const error = new AppError('not_found_error', `No such path for agents: ${path.slice(0, 200)}`, {
    expected: [...Object.values(agentPaths), '/api/...'],
  });
  answerError(response, error, [...fixedHeaders(request), ...UNLESS_SAID], request);
}

function upgrade(
  deps: AgentDoorDeps,
  sockets: WebSocketServer,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  socket.on('error', () => undefined);
  const peer = peerOfRequest(request);
  const problem = problemOf(deps, pathOf(request.url!), peer);
  if (problem) return refuseUpgrade(socket, problem);
  sockets.handleUpgrade(request, socket, head, (ws) => {
    const { streams } = deps;
    const stream = new AgentStream(
      { ...deps, admitted: (one) => streams.admit(one), ended: (one) => streams.remove(one) },
      ws,
      peer!,
    );
    streams.add(stream);
  });
}

interface Problem {
  status: string;
  /** For the agent's log. */
  message: string;
}

function problemOf({ streams, maxAgents }: AgentDoorDeps, path: string, peer: Peer | null): Problem | null {
  if (path !== agentPaths.stream)
    return { status: '404 Not Found', message: `The stream is at ${agentPaths.stream}` };
  if (!peer) return { status: '401 Unauthorized', message: 'The stream needs the certificate of an agent' };
  if (streams.countOf(peer.agentId) >= MAX_OF_AGENT)
    return { status: '429 Too Many Requests', message: `An agent has at most ${MAX_OF_AGENT} streams` };
  if (streams.isLeaving) return { status: '503 Service Unavailable', message: 'The gateway stops' };
  if (streams.count < maxAgents) return null;
  const message = `The gateway has ${maxAgents} agents already (BATON_MAX_AGENTS)`;
  return { status: '503 Service Unavailable', message };
}

function refuseUpgrade(socket: Duplex, { status, message }: Problem): void {
  const body = JSON.stringify({ message });
  const head = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nretry-after: 5`;
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\n${head}\r\n\r\n${body}`);
  socket.once('finish', () => socket.destroy());
}
