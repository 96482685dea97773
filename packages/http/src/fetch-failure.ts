/** The reason why a download failed, in words for the user who named the address. */
import { AppError } from '@baton/kernel';

/** Texts for the error codes of Node.js for a server that cannot be reached. */
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

/** Returns one clause without a full stop about a failed connection; for TLS faults with the code of the library, which identifies them exactly. */
export function whyUnreached(cause: unknown): string {
  const code = codeOf(cause);
  if (UNREACHED[code] !== undefined) return UNREACHED[code];
  if (TLS.test(code))
    return `no secure connection could be made, or the certificate is not trusted (TLS: ${code})`;
  if (code === 'AbortError' || code === 'TimeoutError') return 'it took too long';
  return 'the server did not answer as it should';
}

/** The error of an address that may not be used: no connection was made. `reason` in the details is only the clause. */
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

/** The error of an address that returned no data, or only a part. */
export function failedFetch(field: string, cause?: unknown, reason = whyUnreached(cause)): AppError {
  return new AppError(
    'bad_parameters_error',
    `The address could not be fetched: ${reason}`,
    { field, reason },
    { cause },
  );
}
