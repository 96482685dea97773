import { FatalError } from '@baton/plugin-sdk';
import * as z from 'zod';
import type { Dict, Json } from '../json';

const CODES = z
  .array(z.coerce.number().int())
  .nullish()
  .transform((codes) => codes ?? []);
const DICT = z
  .record(z.string(), z.json())
  .nullish()
  .transform((dict) => dict ?? {});
const FLAG = z
  .union([z.boolean(), z.stringbool()])
  .nullish()
  .transform((flag) => flag ?? false);

/** One call of a template, beside the properties of its node. Texts stand for numbers and flags, since templates make texts. */
const CALL = z.object({
  path: z.coerce.string(),
  method: z.string().regex(/^[A-Za-z]+$/, 'is no method of HTTP'),
  headers: DICT,
  payload: z.json().nullish(),
  payload_format: z.string().nullish(),
  payload_raw: z.string().nullish(),
  raw_payload: z.string().nullish(),
  files: DICT,
  files_raw: DICT,
  raw_files: DICT,
  /** Only those of the call: `params` of the node are variables of templates. */
  params: DICT,
  auth: z.object({ user: z.coerce.string().default(''), password: z.coerce.string().default('') }).nullish(),
  recoverable_codes: CODES,
  successful_codes: CODES,
  retry_on_connection_error: FLAG,
  response_format: z
    .string()
    .nullish()
    .transform((format) => format ?? 'auto'),
  translation_format: z
    .enum(['auto', 'v1', 'v2', 'v3'])
    .nullish()
    .transform((format) => format ?? 'auto'),
  response_translation: z.json().nullish(),
  header_translation: z.json().nullish(),
  cookies_translation: z.json().nullish(),
  nonrecoverable_response: z.json().nullish(),
  response_expectation: z.json().nullish(),
  ssl: FLAG,
  port: z.coerce.number().int().min(-1).max(65_535).default(-1),
  hosts: z
    .array(z.coerce.string())
    .nullish()
    .transform((hosts) => hosts ?? []),
  host: z
    .union([z.string(), z.array(z.string())])
    .nullish()
    .transform((host) => host ?? []),
  verify: z.union([z.boolean(), z.string()]).nullish(),
  cert: z.union([z.string(), z.tuple([z.string(), z.string()])]).nullish(),
  timeout: z.union([z.coerce.number().positive(), z.array(z.coerce.number().positive())]).nullish(),
  proxies: DICT,
});

export type Call = Omit<z.output<typeof CALL>, keyof Rules> & Rules;

/** Rules about answers, as the template gives them. */
interface Rules {
  response_translation?: Json;
  header_translation?: Json;
  cookies_translation?: Json;
  nonrecoverable_response?: Json;
  response_expectation?: Json;
}

/** Properties of a node that its calls have, unless they say otherwise. */
const OF_NODE = ['hosts', 'host', 'port', 'ssl', 'verify', 'cert', 'timeout', 'proxies', 'auth'];

/**
 * A call with the properties of its node. `place`: which call, for errors.
 * @throws FatalError that names each wrong value
 */
export function callOf(written: Json, connection: Dict, place: string): Call {
  const own = Object.entries(connection).filter(([name]) => OF_NODE.includes(name));
  if (typeof written !== 'object' || written === null || Array.isArray(written))
    throw new FatalError(`${place}: expected a dictionary with path and method`);
  const given = Object.entries(written).filter(([, value]) => value !== null);
  const parsed = CALL.safeParse(Object.fromEntries([...own, ...given]));
  if (parsed.success) return parsed.data as Call;
  const problems = parsed.error.issues.map(
    ({ path, message }) => `${[place, ...path].join('.')}: ${message}`,
  );
  throw new FatalError(problems.join('; '));
}

/** The hosts of a call, in the order of their tries. @throws FatalError when there are none */
export function hostsOf({ hosts, host }: Call): readonly string[] {
  const all = hosts.length > 0 ? hosts : typeof host === 'string' ? [host] : host;
  const named = all.filter((one) => one !== '');
  if (named.length === 0) throw new FatalError('no host: set the property hosts or host');
  return named;
}
