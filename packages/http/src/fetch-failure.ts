/** Why a download failed, in words for whoever named the address. */
import { AppError } from '@baton/kernel';

/** What Node.js says of a server that cannot be reached. */
const UNREACHED: Readonly<Record<string, string>> = {
  ENOTFOUND: 'no such host name is known (DNS)',
  EAI_AGAIN: 'the host name could not be looked up (DNS)',
  ECONNREFUSED: 'the connection was refused: nothing listens there',
  ECONNRESET: 'the server closed the connection',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the host',
  ETIMEDOUT: 'the host did not answer in time',
};

const TLS = /^(ERR_(TLS|SSL)_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO$)/;

const codeOf = (cause: unknown): string => {
  const { code, name } = (cause ?? {}) as { code?: unknown; name?: unknown };
  return typeof code === 'string' ? code : typeof name === 'string' ? name : '';
};

/** @returns one clause without a full stop; of TLS faults with the code of the library, which names them exactly. */
function whyUnreached(cause: unknown): string {
  const code = codeOf(cause);
  if (UNREACHED[code] !== undefined) return UNREACHED[code];
  if (TLS.test(code))
    return `no secure connection could be made, or the certificate is not trusted (TLS: ${code})`;
  if (code === 'AbortError' || code === 'TimeoutError') return 'it took too long';
  return 'the server did not answer as it should';
}

/** An address that may not be used: nothing was connected to. `reason` in the details is the clause alone. */
export function refusedAddress(
  field: string,
  reason = 'it must lead to a public http or https address',
): AppError {
  return new AppError('bad_parameters_error', `The address cannot be used: ${reason}`, {
    field,
    expected: 'public http or https address',
    reason,
  });
}

/** An address from which nothing came, or not all of it. */
export function failedFetch(field: string, cause?: unknown, reason = whyUnreached(cause)): AppError {
  return new AppError(
    'bad_parameters_error',
    `The address could not be fetched: ${reason}`,
    { field, reason },
    { cause },
  );
}
