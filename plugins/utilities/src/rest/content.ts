import { type Dict, isDict, type Json } from '../json';
import type { Call } from './call';
import type { RestScope } from './scope';

/** The body of a request, with the headers that say what it is. */
interface Content {
  body?: string | Uint8Array;
  headers: Record<string, string>;
}

type Query = Record<string, string>;

/**
 * The body and the query of a call.
 * @throws FatalError for a file that the blueprint does not have
 */
export async function contentOf(scope: RestScope, call: Call): Promise<{ content: Content; query: Query }> {
  const rawName = call.payload_raw ?? call.raw_payload;
  const raw = rawName ? await scope.ctx.getResource(rawName) : undefined;
  const payload = call.payload ?? null;
  const format = (call.payload_format ?? 'json').toLowerCase();
  const isQuery = format === 'urlencoded' && isDict(payload) && raw === undefined;
  const query = queryOf({ ...call.params, ...(isQuery ? payload : {}) });
  const fields = isQuery ? null : payload;
  const files = { ...(await filesOf(scope, { ...call.raw_files, ...call.files_raw })), ...call.files };
  if (Object.keys(files).length > 0) return { content: await formOf(files, fields), query };
  if (raw !== undefined)
    return { content: { body: raw, headers: format === 'json' ? JSON_CONTENT : {} }, query };
  if (fields === null) return { content: { headers: {} }, query };
  if (format === 'json') return { content: { body: JSON.stringify(fields), headers: JSON_CONTENT }, query };
  if (isDict(fields))
    return { content: { body: String(new URLSearchParams(queryOf(fields))), headers: FORM }, query };
  return { content: { body: textOf(fields), headers: {} }, query };
}

const JSON_CONTENT = { 'content-type': 'application/json' };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

const queryOf = (values: Dict): Query =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, textOf(value)]),
  );

async function filesOf({ ctx }: RestScope, names: Dict): Promise<Record<string, Uint8Array>> {
  const files: Record<string, Uint8Array> = {};
  for (const [field, name] of Object.entries(names)) files[field] = await ctx.getResource(String(name));
  return files;
}

/** A form with files: a text, or a list of file name, text and kind of content. */
async function formOf(files: Record<string, Json | Uint8Array>, fields: Json): Promise<Content> {
  const form = new FormData();
  if (isDict(fields)) for (const [name, value] of Object.entries(queryOf(fields))) form.append(name, value);
  for (const [field, file] of Object.entries(files)) {
    const [name, text, kind] = Array.isArray(file) ? file : [field, file, null];
    const content = text instanceof Uint8Array ? text : textOf(text ?? '');
    const type = typeof kind === 'string' ? kind : 'application/octet-stream';
    form.append(field, new Blob([content as never], { type }), String(name ?? field));
  }
  const encoded = new Response(form);
  const type = encoded.headers.get('content-type') ?? 'multipart/form-data';
  return { body: new Uint8Array(await encoded.arrayBuffer()), headers: { 'content-type': type } };
}
