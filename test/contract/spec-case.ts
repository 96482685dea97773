import type { SpecResource } from './fields';

/** The request, in addition to the method. `$name` in paths and bodies stands for a value of the world. */
export interface Sent {
  /** Path below /api/<version> with its query; it must match the row. */
  path: string;
  body?: unknown;
  /** Sent as octet-stream: an archive, or the name of an archive of the world. */
  archive?: 'blueprint' | 'slow' | 'faulty' | 'broken' | 'plugin' | 'license' | 'nothing' | Buffer;
  /** The caller; default: the administrator. */
  as?: 'admin' | 'viewer' | 'nobody';
}

/** The successful call and the refused call that test one row of the specification. */
export interface SpecCase {
  /** Calls of v3.1 that must succeed before: `[method, request]`. */
  given?: [method: string, sent: Sent][];
  ok: Sent;
  /** Status of the successful call; default 200. */
  status?: number;
  /** The answer must contain these fields of the specification; for a list, each item must. */
  fields?: SpecResource;
  /** Form of the answer: one object, an envelope with at least one item, a bare array, an archive, or nothing. Default: object. */
  answer?: 'object' | 'list' | 'array' | 'archive' | 'empty';
  refused: Sent & { status: number; code: string };
}

/** Key: `<version> <method> <path as written in the document>`. */
export type SpecCases = Readonly<Record<string, SpecCase>>;

export const nothingThere = { status: 404, code: 'not_found_error' } as const;
export const bad = { status: 400, code: 'bad_parameters_error' } as const;
export const forbidden = { status: 403, code: 'forbidden_error' } as const;
export const badInclude = { status: 400, code: 'no_such_include_field_error' } as const;
export const conflict = { status: 409, code: 'conflict_error' } as const;
export const noCredentials = { as: 'nobody', status: 401, code: 'unauthorized_error' } as const;
