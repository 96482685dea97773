import type { Readable } from 'node:stream';

/** One server-sent event; `data` is written as JSON unless it is a text. */
export interface StreamEvent {
  id?: string;
  event?: string;
  data: unknown;
}

export interface FullAnswer {
  /** Default: the status of the route's contract. */
  status?: number;
  /** A list is one header for each value, such as two cookies. */
  headers?: Record<string, string | string[]>;
  /** JSON value, or the text of a route with responseKind `text`. */
  body?: unknown;
  /** Bytes of a download, or the events of a route with responseKind `events` (texts are written as they are). */
  stream?: Readable | AsyncIterable<StreamEvent | string>;
  /** File name under which a browser saves a download. */
  filename?: string;
  /** Length of the stream in bytes, when known. */
  length?: number;
  contentType?: string;
}

/** Marks a full answer; every other value that a handler returns is the JSON body itself. */
export class Answer {
  constructor(readonly full: FullAnswer) {}
}

/** A full answer: status, headers, stream, ... `answer({ status: 204 })`. */
export function answer(full: FullAnswer): Answer {
  return new Answer(full);
}

export type HttpAnswer = Answer | object | string | number | boolean | null | undefined | void;

/** Value of Content-Disposition (RFC 6266): an ASCII fallback and the UTF-8 name. */
export function attachment(filename: string): string {
  const ascii = filename.replace(/[^\x20-\x7e]|["\\]/g, '_');
  const encoded = encodeURIComponent(filename).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return ascii === filename
    ? `attachment; filename="${ascii}"`
    : `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
