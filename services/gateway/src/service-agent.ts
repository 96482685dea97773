/** Connections of http-proxy-middleware to one service. */
import { Agent, type AgentOptions, type ClientRequestArgs } from 'node:http';
import { Agent as TlsAgent, type AgentOptions as TlsAgentOptions } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { clientTls, type TlsSource } from '@baton/tls';

export interface ServiceAgentOptions {
  /** Longest time to connect, TLS included. */
  connectMs: number;
  /** Idle connections are closed after this time. */
  keepAliveMs: number;
  /** For https: the certificate of the gateway and the certificates that it trusts. */
  tls: TlsSource | null;
}

type Connected = (error: Error | null, socket: Duplex) => void;

const settings = ({ keepAliveMs }: ServiceAgentOptions): AgentOptions => ({
  keepAlive: true,
  timeout: keepAliveMs,
  // Event streams, uploads and downloads: one connection for each client. The gateway limits the clients elsewhere.
  maxSockets: Number.POSITIVE_INFINITY,
});

class PlainServiceAgent extends Agent {
  constructor(private readonly own: ServiceAgentOptions) {
    super(settings(own));
  }
  override createConnection(options: ClientRequestArgs, done?: Connected): Duplex | null | undefined {
    const socket = super.createConnection(options, done);
    giveUpLater(socket, 'connect', this.own.connectMs);
    return socket;
  }
}

/** New connections follow renewed certificates; the sessions of the old ones are not resumed. */
class TlsServiceAgent extends TlsAgent {
  constructor(private readonly own: ServiceAgentOptions) {
    super({ ...settings(own), maxCachedSessions: 0 } as TlsAgentOptions);
  }
  override createConnection(options: ClientRequestArgs, done?: Connected): Duplex | null | undefined {
    const { tls, connectMs } = this.own;
    const socket = super.createConnection(tls ? { ...options, ...clientTls(tls) } : options, done);
    giveUpLater(socket, 'secureConnect', connectMs);
    return socket;
  }
}

function giveUpLater(socket: Duplex | null | undefined, connected: string, connectMs: number): void {
  if (!socket) return;
  const timer = setTimeout(() => socket.destroy(new Error('the connection was not made in time')), connectMs);
  const clear = (): void => clearTimeout(timer);
  (socket as Socket).once(connected, clear).once('close', clear);
}

/** `origin`: http://host:port or https://host:port. */
export const createServiceAgent = (origin: string, options: ServiceAgentOptions): Agent =>
  origin.startsWith('https:') ? new TlsServiceAgent(options) : new PlainServiceAgent(options);
