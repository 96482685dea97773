/** Reads a request body with a size limit, and parses JSON with protection against attacks. */
import type { IncomingMessage } from 'node:http';
import { AppError } from '@baton/kernel';

/** Deepest nesting that JSON.stringify, validators and the database handle without a stack overflow. */
const MAX_JSON_DEPTH = 200;

function tooLarge(limitBytes: number): AppError {
  return new AppError('payload_too_large_error', `The body is larger than ${limitBytes} bytes`, {
    field: 'body',
    expected: `at most ${limitBytes} bytes`,
  });
}

/** Whether the request declares a body. */
export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/**
 * Reads the whole body as UTF-8 text.
 * @throws AppError payload_too_large_error beyond `limitBytes`; bad_parameters_error when the client breaks off.
 */
export function readText(request: IncomingMessage, limitBytes: number): Promise<string> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes)
    return Promise.reject(tooLarge(limitBytes));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (error: AppError): void => {
      request.removeAllListeners('data');
      request.resume();
      reject(error);
    };
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limitBytes) finish(tooLarge(limitBytes));
      else chunks.push(chunk);
    });
    request.on('end', () =>
      resolve(chunks.length === 1 ? chunks[0]!.toString('utf8') : Buffer.concat(chunks).toString('utf8')),
    );
    request.on('error', () => finish(new AppError('bad_parameters_error', 'The body broke off')));
    request.on('close', () => {
      if (!request.complete) reject(new AppError('bad_parameters_error', 'The body broke off'));
    });
  });
}

/** Returns the deepest nesting of brackets outside texts; stops counting at `limit`. */
function jsonDepth(text: string, limit: number): number {
  let depth = 0;
  let deepest = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 34) {
      i = endOfText(text, i);
    } else if (c === 123 || c === 91) {
      depth++;
      if (depth > deepest) deepest = depth;
      if (deepest > limit) return deepest;
    } else if (c === 125 || c === 93) depth--;
  }
  return deepest;
}

/** Index of the quote that closes the text opened at `open`. */
function endOfText(text: string, open: number): number {
  let i = open;
  for (;;) {
    i = text.indexOf('"', i + 1);
    if (i < 0) return text.length;
    let slashes = 0;
    while (text.charCodeAt(i - 1 - slashes) === 92) slashes++;
    if (slashes % 2 === 0) return i;
  }
}

const MAY_HOLD_PROTO = /__proto__|\\u00(?:5f|70|72|6f|74)/i;

function refuseProtoKeys(value: unknown): void {
  const open: unknown[] = [value];
  for (let next = open.pop(); next !== undefined || open.length > 0; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    if (!Array.isArray(next) && Object.hasOwn(next, '__proto__')) {
      throw new AppError('bad_parameters_error', 'Invalid body: the key `__proto__` is not allowed', {
        field: '__proto__',
      });
    }
    for (const inner of Array.isArray(next) ? next : Object.values(next)) open.push(inner);
  }
}

/**
 * Parses a JSON text from outside.
 * @throws AppError bad_parameters_error for malformed JSON, nesting beyond MAX_JSON_DEPTH and `__proto__` keys.
 */
export function parseJson(text: string): unknown {
  if (jsonDepth(text, MAX_JSON_DEPTH) > MAX_JSON_DEPTH) {
    throw new AppError(
      'bad_parameters_error',
      `The JSON body is nested deeper than ${MAX_JSON_DEPTH} levels`,
      {
        field: 'body',
        expected: `at most ${MAX_JSON_DEPTH} levels`,
      },
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AppError(
      'bad_parameters_error',
      `The body is not valid JSON: ${(cause as Error).message}`,
      { field: 'body', expected: 'JSON' },
      { cause },
    );
  }
  if (MAY_HOLD_PROTO.test(text)) refuseProtoKeys(value);
  return value;
}
