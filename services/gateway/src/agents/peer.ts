/** The other end of a connection of the agents' listener, as its certificate names it. */
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';

/** An agent whose certificate one of the authorities has signed. Whether it is still good, only deployments knows. */
export interface Peer {
  /** Common name of the certificate: the id of the agent's record. */
  agentId: string;
  /** Hexadecimal digits in small letters. */
  serial: string;
  /** End of the certificate, epoch ms. */
  untilMs: number;
}

const MAX_ID = 256;

/**
 * Returns the peer of a connection after its handshake; null: it has shown no certificate; `refused`: one that no authority of
 * agents has signed, or that is not good now.
 */
export function peerOf(socket: TLSSocket): Peer | null | 'refused' {
  const { subject, serialNumber, valid_to: until } = socket.getPeerCertificate();
  if (subject === undefined) return null;
  const { CN: name } = subject;
  if (!socket.authorized || typeof name !== 'string' || name === '' || name.length > MAX_ID) return 'refused';
  return { agentId: name, serial: serialNumber.toLowerCase(), untilMs: Date.parse(until) };
}

const peers = new WeakMap<object, Peer>();

/** Notes the peer of a connection, so that its certificate is read once. */
export const notePeer = (socket: object, peer: Peer): void => void peers.set(socket, peer);

/** Returns the noted peer of a request's connection; null: none. */
export const peerOfRequest = ({ socket }: IncomingMessage): Peer | null => peers.get(socket) ?? null;
