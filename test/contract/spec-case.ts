import type { SpecResource } from './fields';

/** What is sent beside method and path. `$name` in paths and bodies stands for a value of the world. */
export interface Sent {
  /** Path below /api/<version> with its query; it must be one that the row describes. */
  path: string;
  body?: unknown;
  /** An archive, or the name of one of the world, sent as octet-stream. */
  archive?: 'blueprint' | 'slow' | 'faulty' | 'broken' | 'plugin' | 'license' | 'nothing' | Buffer;
  /** Who calls; default the administrator. */
  as?: 'admin' | 'viewer' | 'nobody';
}

/** The successful call and the refusal that prove one row of the specification. */
export interface SpecCase {
  /** Calls that must succeed before, of v3.1: `[method, what]`. */
  given?: [method: string, sent: Sent][];
  ok: Sent;
  /** Status of the successful call; default 200. */
  status?: number;
  /** The answer holds these fields of the specification; of a list, each item. */
  fields?: SpecResource;
  /** The answer: one object, an envelope of at least one item, a bare array, an archive, nothing. Default object. */
  answer?: 'object' | 'list' | 'array' | 'archive' | 'empty';
  refused: Sent & { status: number; code: string };
}

/** Key: `<version> <method> <path as the document writes it>`. */
export type SpecCases = Readonly<Record<string, SpecCase>>;

export const nothingThere = { status: 404, code: 'not_found_error' } as const;
export const bad = { status: 400, code: 'bad_parameters_error' } as const;
export const forbidden = { status: 403, code: 'forbidden_error' } as const;
export const badInclude = { status: 400, code: 'no_such_include_field_error' } as const;
export const conflict = { status: 409, code: 'conflict_error' } as const;
export const noCredentials = { as: 'nobody', status: 401, code: 'unauthorized_error' } as const;
