/** Reads user name and password from the body of a sign-in; the body stays readable for the service. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyHasCome } from './arrived-body';
import type { Credential } from './credentials';
import { tooLarge } from './limit-body';
import type { SignInWaits } from './sign-in-waits';

/** Most bytes of a sign-in body. */
export const SIGN_IN_BYTES = 8 * 1024;

export interface SignInBody {
  request: IncomingMessage;
  /** Once it has been answered (the body came too slowly), the wait ends. */
  response: ServerResponse;
  address: string;
}

/**
 * Waits for the whole body, within the limit of waits of `address`. Returns null when the body is not a user name with a password:
 * a code, or a body that the service will refuse.
 * @throws AppError payload_too_large_error; errors of the waits
 */
export async function readSignIn(
  { request, response, address }: SignInBody,
  waits: SignInWaits,
): Promise<Credential | null> {
  const coming = bodyHasCome(request);
  const hasCome = coming === true || (await waits.run(address, () => Promise.race([coming, end(response)])));
  if (!request.complete || request.readableLength > SIGN_IN_BYTES) {
    // The client has left or has already been refused: nobody would read the answer.
    if (!hasCome) return null;
    throw tooLarge(SIGN_IN_BYTES);
  }
  // Reading an empty stream would end it for the service as well.
  if (request.readableLength === 0) return null;
  const bytes = request.read() as Buffer;
  request.unshift(bytes);
  return credentialOf(bytes.toString('utf8'));
}

const end = (response: ServerResponse): Promise<false> =>
  new Promise((resolve) => {
    response.once('close', () => resolve(false));
  });

/** The service parses the same text in the same way, and compares the names. */
export function credentialOf(text: string): Credential | null {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return null;
  }
  const { username, password } = (body ?? {}) as { username?: unknown; password?: unknown };
  if (typeof username !== 'string' || typeof password !== 'string' || username === '') return null;
  return { kind: 'basic', username, password };
}
