/** The ways clients send an archive (reference/rest-api.md 10.3): raw or chunked with any content type, multipart, none. */
import { uploadParams } from '@baton/contracts/http/blueprints';
import { checkValue, type HttpCall, parseJson } from '@baton/http';
import { AppError, badParameter } from '@baton/kernel';
import busboy from 'busboy';
import { type Spool, spool } from '../archive/spool';
import type { RawUploadArguments } from '../domain/upload-request';

/** Brings the archive to hand when it is wanted; null: the request has none. */
export type ArchiveBody = (() => Promise<Spool>) | null;

export interface UploadBody {
  /** Members of the multipart part `params`; they go before the query. */
  params: RawUploadArguments;
  archive: ArchiveBody;
  dispose(): Promise<void>;
}

const MAX_PARAMS_BYTES = 1024 * 1024;

const unreadable = (cause: unknown): AppError =>
  new AppError(
    'bad_parameters_error',
    `The multipart body cannot be read: ${(cause as Error).message}`,
    {},
    { cause },
  );

function multipartParser(call: HttpCall): ReturnType<typeof busboy> {
  const limits = { files: 1, fields: 20, parts: 30, fieldSize: MAX_PARAMS_BYTES, headerPairs: 50 };
  try {
    return busboy({ headers: call.headers, limits });
  } catch (cause) {
    throw unreadable(cause);
  }
}

interface Parts {
  params: string;
  archive: Promise<Spool> | null;
}

/** Fills `parts` as they come; resolves when the body is over. */
function collectParts(
  call: HttpCall,
  parser: ReturnType<typeof busboy>,
  parts: Parts,
  maxBytes: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    parser.on('field', (name, value, about) => {
      if (about.valueTruncated) reject(badParameter(name, `the part ${name} is too large`));
      else if (name === 'params') parts.params = value;
    });
    parser.on('file', (_name, stream) => {
      parts.archive = spool(stream, maxBytes);
      parts.archive.catch((error: unknown) => {
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

async function readMultipart(
  call: HttpCall,
  maxBytes: number,
): Promise<{ params: RawUploadArguments; archive: Spool | null }> {
  const parser = multipartParser(call);
  const parts: Parts = { params: '{}', archive: null };
  const done = collectParts(call, parser, parts, maxBytes);
  call.raw.pipe(parser);
  try {
    await done;
    const params = checkValue(uploadParams, parseJson(parts.params), 'part params') as RawUploadArguments;
    return { params, archive: await parts.archive };
  } catch (error) {
    call.raw.unpipe(parser);
    call.raw.resume();
    void parts.archive?.then(
      (s) => s.dispose(),
      () => undefined,
    );
    throw error;
  }
}

const nothing = async (): Promise<void> => undefined;

/** A body that announces itself (chunked) may still be empty: with a URL beside it that is no archive. */
async function isEmpty(call: HttpCall): Promise<boolean> {
  if (!call.hasBody) return true;
  for await (const chunk of call.raw) if ((chunk as Buffer).length > 0) return false;
  return true;
}

/**
 * Reads the arguments of an upload and finds out whether an archive came. `hasUrl`: a URL is in the query.
 * @throws AppError bad_parameters_error
 */
export async function readUploadBody(call: HttpCall, maxBytes: number, hasUrl: boolean): Promise<UploadBody> {
  if (/^multipart\/form-data/i.test(call.contentType)) {
    const { params, archive } = await readMultipart(call, maxBytes);
    const isThere = archive !== null && archive.size > 0;
    return {
      params,
      archive: isThere ? async () => archive : null,
      dispose: archive === null ? nothing : () => archive.dispose(),
    };
  }
  if (hasUrl) {
    if (await isEmpty(call)) return { params: {}, archive: null, dispose: nothing };
    throw badParameter('blueprint_archive_url', 'an archive in the body and a URL cannot be given together', {
      expected: 'one of both',
    });
  }
  if (!call.hasBody) return { params: {}, archive: null, dispose: nothing };
  return { params: {}, archive: () => spool(call.raw, maxBytes), dispose: nothing };
}
