import type { Dict } from './object';

/** A refusal of the API: an object of the kind Status. */
export class ApiError extends Error {
  constructor(
    readonly code: number,
    readonly reason: string,
    message: string,
    readonly details: Dict = {},
  ) {
    super(message);
  }

  body(): Dict {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      reason: this.reason,
      ...(Object.keys(this.details).length > 0 ? { details: this.details } : {}),
      code: this.code,
    };
  }
}

interface Named {
  group: string;
  resource: string;
  kind: string;
}

const qualified = ({ group, resource }: Named): string => (group === '' ? resource : `${resource}.${group}`);

export const notFound = (type: Named, name: string): ApiError =>
  new ApiError(404, 'NotFound', `${qualified(type)} "${name}" not found`, {
    name,
    group: type.group || undefined,
    kind: type.resource,
  });

export const alreadyExists = (type: Named, name: string): ApiError =>
  new ApiError(409, 'AlreadyExists', `${qualified(type)} "${name}" already exists`, {
    name,
    group: type.group || undefined,
    kind: type.resource,
  });

export const conflict = (type: Named, name: string, why: string): ApiError =>
  new ApiError(409, 'Conflict', `Operation cannot be fulfilled on ${qualified(type)} "${name}": ${why}`, {
    name,
    group: type.group || undefined,
    kind: type.resource,
  });

/** `causes`: path of the field and what is wrong with it. */
export const invalid = (type: Named, name: string, causes: readonly [string, string][]): ApiError =>
  new ApiError(
    422,
    'Invalid',
    `${type.kind}${type.group === '' ? '' : `.${type.group}`} "${name}" is invalid: ${causes
      .map(([field, message]) => `${field}: ${message}`)
      .join(', ')}`,
    {
      name,
      group: type.group || undefined,
      kind: type.kind,
      causes: causes.map(([field, message]) => ({ reason: 'FieldValueInvalid', field, message })),
    },
  );

export const badRequest = (message: string): ApiError => new ApiError(400, 'BadRequest', message);
