/** AppErrors over gRPC: metadata carries code and details, the status carries the text. */

import {
  AppError,
  diskFailure,
  type ErrorCode,
  type ErrorDetails,
  errorTable,
  type Log,
} from '@baton/kernel';
import { Metadata, type ServiceError, type StatusObject, status } from '@grpc/grpc-js';

const CODE = 'baton-code';
const DETAILS = 'baton-details-bin';
/** HTTP/2 refuses header blocks of more than 16 KiB by default; details beyond this are cut. */
const MAX_DETAILS_BYTES = 8 * 1024;
const MAX_MESSAGE_LENGTH = 2000;

const internal = 'Internal error in the manager; its log has the details';

/** Returns the error that a caller may see: AppErrors as they are. Any other error is a bug, logged here once with its stack. */
export function visibleError(error: unknown, method: string, log: Log): AppError {
  if (error instanceof AppError) {
    if (error.entry.http >= 500 && error.cause !== undefined)
      log.error({ method, errorCode: error.code, err: error.cause }, 'rpc failed');
    return error;
  }
  log.error({ method, err: error }, 'rpc failed');
  const disk = diskFailure(error);
  if (disk) return disk;
  return new AppError('internal_server_error', internal);
}

function encodeDetails(details: ErrorDetails): Buffer {
  const whole = Buffer.from(JSON.stringify(details));
  if (whole.length <= MAX_DETAILS_BYTES) return whole;
  const kept: ErrorDetails = { isTruncated: true };
  for (const [key, value] of Object.entries(details)) {
    // A long list (diagnostics) keeps its first entries.
    const part = Array.isArray(value) ? value.slice(0, 10) : value;
    const next = JSON.stringify({ ...kept, [key]: part });
    if (Buffer.byteLength(next) <= MAX_DETAILS_BYTES) kept[key] = part;
  }
  return Buffer.from(JSON.stringify(kept));
}

export function toStatus(error: AppError): Pick<StatusObject, 'code' | 'details' | 'metadata'> {
  const metadata = new Metadata();
  metadata.set(CODE, error.code);
  metadata.set(DETAILS, encodeDetails(error.details));
  return { code: error.entry.grpc as status, details: error.message.slice(0, MAX_MESSAGE_LENGTH), metadata };
}

/** Whether the call never reached a handler, so that it may be repeated elsewhere. */
export function isUnreachable(error: ServiceError): boolean {
  return error.code === status.UNAVAILABLE && error.metadata?.get(CODE).length === 0;
}

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorTable, code);

function decodeDetails(json: string): ErrorDetails {
  try {
    return JSON.parse(json) as ErrorDetails;
  } catch {
    return {};
  }
}

/** Returns the AppError that a service answered with; a code that this release does not know becomes an internal error. */
export function errorFrom(code: string, message: string, detailsJson: string): AppError {
  return isErrorCode(code)
    ? new AppError(code, message, decodeDetails(detailsJson))
    : new AppError('internal_server_error', internal, {}, { cause: new Error(`${code}: ${message}`) });
}

const byTransport: Partial<Record<status, ErrorCode>> = {
  [status.DEADLINE_EXCEEDED]: 'request_timeout_error',
  [status.UNAVAILABLE]: 'service_unavailable_error',
  [status.RESOURCE_EXHAUSTED]: 'payload_too_large_error',
  [status.UNAUTHENTICATED]: 'unauthorized_error',
};

/** The AppError of a failed call; transport failures name the service and method. */
export function fromStatus(error: ServiceError, method: string): AppError {
  const code = error.metadata?.get(CODE)[0];
  if (typeof code === 'string')
    return errorFrom(code, error.details, String(error.metadata.get(DETAILS)[0] ?? '{}'));
  const known = byTransport[error.code];
  if (known) return new AppError(known, `${method}: ${error.details}`, {}, { cause: error });
  return new AppError(
    'internal_server_error',
    internal,
    {},
    { cause: new Error(`${method}: ${error.message}`) },
  );
}
