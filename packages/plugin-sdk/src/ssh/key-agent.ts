import { Transform, type TransformCallback } from 'node:stream';
import {
  BaseAgent,
  type GetStreamCallback,
  type IdentityCallback,
  type ParsedKey,
  type SignCallback,
} from 'ssh2';

interface Signing {
  hash?: string;
}

/**
 * An agent with one key, for programs at the host that log in further on. It signs; the key itself stays here. Whoever is root at the
 * host can let it sign as long as the connection is open.
 */
export class KeyAgent extends BaseAgent<ParsedKey> {
  readonly #key: ParsedKey;

  constructor(key: ParsedKey) {
    super();
    this.#key = key;
  }

  getIdentities(callback: IdentityCallback<ParsedKey>): void {
    callback(null, [this.#key]);
  }

  sign(_key: ParsedKey, data: Buffer, options: Signing | SignCallback, callback?: SignCallback): void {
    const isShort = typeof options === 'function';
    const answer = isShort ? options : callback;
    answer?.(null, this.#key.sign(data, isShort ? undefined : options.hash));
  }

  override getStream(callback: GetStreamCallback): void {
    callback(null, new AgentStream(this.#key));
  }
}

/** Messages of the protocol of agents (draft-ietf-sshm-ssh-agent). */
const FAILURE = 5;
const REQUEST_IDENTITIES = 11;
const IDENTITIES = 12;
const SIGN_REQUEST = 13;
const SIGNATURE = 14;
/** Hashes that a client asks for, for keys of RSA. */
const RSA_HASHES: readonly [flag: number, hash: string][] = [
  [2, 'sha256'],
  [4, 'sha512'],
];
const MAX_MESSAGE = 256 * 1024;

/**
 * Answers the messages of a client. The server of ssh2 loses its place behind messages that it does not know, such as those with which
 * OpenSSH begins.
 */
class AgentStream extends Transform {
  readonly #key: ParsedKey;
  #rest: Buffer = Buffer.alloc(0);

  constructor(key: ParsedKey) {
    super();
    this.#key = key;
    this.on('error', () => undefined);
  }

  override _transform(piece: Buffer, _encoding: string, done: TransformCallback): void {
    this.#rest = Buffer.concat([this.#rest, piece]);
    while (this.#rest.length >= 4) {
      const length = this.#rest.readUInt32BE(0);
      if (length > MAX_MESSAGE) return done(new Error('a message to the agent is too long'));
      if (this.#rest.length < 4 + length) break;
      this.push(text(this.#answer(this.#rest.subarray(4, 4 + length))));
      this.#rest = this.#rest.subarray(4 + length);
    }
    done();
  }

  #answer(message: Buffer): Buffer {
    if (message[0] === REQUEST_IDENTITIES)
      return Buffer.concat([
        Buffer.from([IDENTITIES]),
        number(1),
        text(this.#key.getPublicSSH()),
        text(Buffer.from('baton')),
      ]);
    if (message[0] !== SIGN_REQUEST) return Buffer.from([FAILURE]);
    const asked = readText(message, 1);
    const data = asked && readText(message, asked.end);
    if (!asked || !data || message.length < data.end + 4 || !asked.value.equals(this.#key.getPublicSSH()))
      return Buffer.from([FAILURE]);
    const flags = message.readUInt32BE(data.end);
    const hash =
      this.#key.type === 'ssh-rsa' ? RSA_HASHES.find(([flag]) => (flags & flag) !== 0)?.[1] : undefined;
    const format = hash === undefined ? this.#key.type : `rsa-sha2-${hash.slice(3)}`;
    const signature = Buffer.concat([text(Buffer.from(format)), text(this.#key.sign(data.value, hash))]);
    return Buffer.concat([Buffer.from([SIGNATURE]), text(signature)]);
  }
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

const text = (value: Buffer): Buffer => Buffer.concat([number(value.length), value]);

/** A text and the place behind it; null: the message is too short. */
function readText(message: Buffer, at: number): { value: Buffer; end: number } | null {
  if (message.length < at + 4) return null;
  const end = at + 4 + message.readUInt32BE(at);
  return message.length < end ? null : { value: message.subarray(at + 4, end), end };
}
