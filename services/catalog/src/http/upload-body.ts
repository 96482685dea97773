/**
 * The forms in which clients send an archive (reference/rest-api.md 10.3): raw or chunked with any content type, multipart, none.
 */
import { uploadParams } from '@baton/contracts/http/blueprints';
import { checkValue, type HttpCall, parseJson } from '@baton/http';
import { badParameter } from '@baton/kernel';
import { type Spool, spool } from '../archive/spool';
import type { RawUploadArguments } from '../domain/upload-request';
import { isMultipart, readParts } from './multipart';

/** Reads the archive when it is needed; null: the request has none. */
export type ArchiveBody = (() => Promise<Spool>) | null;

export interface UploadBody {
  /** Members of the multipart part `params`; they override the query. */
  params: RawUploadArguments;
  archive: ArchiveBody;
  dispose(): Promise<void>;
}

async function readMultipart(
  call: HttpCall,
  maxBytes: number,
): Promise<{ params: RawUploadArguments; archive: Spool | null; dispose(): Promise<void> }> {
  const parts = await readParts(call, { maxBytes, maxFiles: 1 });
  try {
    const text = parts.fields.params ?? '{}';
    const params = checkValue(uploadParams, parseJson(text), 'part params') as RawUploadArguments;
    return { params, archive: parts.files[0]?.content ?? null, dispose: parts.dispose };
  } catch (error) {
    await parts.dispose();
    throw error;
  }
}

const nothing = async (): Promise<void> => undefined;

/** Whether the body is empty. A chunked body may be empty: beside a URL, an empty body is no archive. */
async function isEmpty(call: HttpCall): Promise<boolean> {
  if (!call.hasBody) return true;
  for await (const chunk of call.raw) if ((chunk as Buffer).length > 0) return false;
  return true;
}

/**
 * Reads the arguments of an upload and checks whether the request has an archive. `hasUrl`: the query has a URL.
 * @throws AppError bad_parameters_error
 */
export async function readUploadBody(call: HttpCall, maxBytes: number, hasUrl: boolean): Promise<UploadBody> {
  if (isMultipart(call)) {
    const { params, archive, dispose } = await readMultipart(call, maxBytes);
    const isThere = archive !== null && archive.size > 0;
    return {
      params,
      archive: isThere ? async () => archive : null,
      dispose,
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
