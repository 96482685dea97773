/** Reads bodies of multipart/form-data: texts by name, and files, each as a spool. */
import type { HttpCall } from '@baton/http';
import { AppError, badParameter } from '@baton/kernel';
import busboy from 'busboy';
import { type Spool, spool } from '../archive/spool';

export interface FilePart {
  /** File name as the sender gives it, with any folders in it; empty: none. */
  fileName: string;
  content: Spool;
}

export interface Parts {
  fields: Record<string, string>;
  files: FilePart[];
  dispose(): Promise<void>;
}

export interface PartLimits {
  /** Most bytes of one file. */
  maxBytes: number;
  maxFiles: number;
}

const MAX_FIELD_BYTES = 1024 * 1024;

export const isMultipart = (call: HttpCall): boolean => /^multipart\/form-data/i.test(call.contentType);

const unreadable = (cause: unknown): AppError =>
  new AppError(
    'bad_parameters_error',
    `The multipart body cannot be read: ${(cause as Error).message}`,
    { field: 'body', expected: 'multipart/form-data as its Content-Type says' },
    { cause },
  );

function parserOf(call: HttpCall, maxFiles: number): ReturnType<typeof busboy> {
  const limits = {
    files: maxFiles,
    fields: 20,
    parts: maxFiles + 29,
    fieldSize: MAX_FIELD_BYTES,
    headerPairs: 50,
  };
  try {
    return busboy({ headers: call.headers, limits, preservePath: true });
  } catch (cause) {
    throw unreadable(cause);
  }
}

interface Collected {
  fields: Record<string, string>;
  files: { fileName: string; content: Promise<Spool> }[];
}

/** Adds the parts to `parts` as they arrive; resolves at the end of the body. */
function collectParts(
  call: HttpCall,
  parser: ReturnType<typeof busboy>,
  parts: Collected,
  maxBytes: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    parser.on('field', (name, value, about) => {
      if (about.valueTruncated) reject(badParameter(name, `the part ${name} is too large`));
      else parts.fields[name] = value;
    });
    parser.on('file', (_name, stream, about) => {
      const content = spool(stream, maxBytes);
      parts.files.push({ fileName: about.filename ?? '', content });
      content.catch((error: unknown) => {
        stream.resume();
        reject(error);
      });
    });
    for (const limit of ['filesLimit', 'fieldsLimit', 'partsLimit'] as const) {
      parser.on(limit, () => reject(unreadable(new Error('too many parts'))));
    }
    parser.on('error', (cause) => reject(unreadable(cause)));
    parser.on('close', resolve);
    call.raw.on('aborted', () => reject(new AppError('bad_parameters_error', 'The body broke off')));
  });
}

/**
 * Reads the whole body; the caller disposes of the result.
 * @throws AppError bad_parameters_error, payload_too_large_error; in that case nothing is left behind
 */
export async function readParts(call: HttpCall, { maxBytes, maxFiles }: PartLimits): Promise<Parts> {
  const parser = parserOf(call, maxFiles);
  const parts: Collected = { fields: Object.create(null) as Record<string, string>, files: [] };
  const dispose = async (): Promise<void> => {
    for (const file of await Promise.allSettled(parts.files.map(({ content }) => content)))
      if (file.status === 'fulfilled') await file.value.dispose();
  };
  const done = collectParts(call, parser, parts, maxBytes);
  call.raw.pipe(parser);
  try {
    await done;
    const files: FilePart[] = [];
    for (const { fileName, content } of parts.files) files.push({ fileName, content: await content });
    return { fields: parts.fields, files, dispose };
  } catch (error) {
    call.raw.unpipe(parser);
    call.raw.resume();
    // Otherwise a part that never ends would be waited for: destroying the parser ends it.
    parser.destroy();
    void dispose();
    throw error;
  }
}
