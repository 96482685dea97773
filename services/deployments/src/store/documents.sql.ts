import { createHash } from 'node:crypto';
import { defineFormat, requireFormat } from '@baton/kernel';
import { type AnyQuery, type AnyTx, type Db, prepared } from '@baton/postgres';
import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { DB } from './tables.gen';

/**
 * Immutable JSON texts identified by their SHA-256, shared between deployments: a hundred thousand deployments of one blueprint
 * store its workflows and operations once.
 */

/** A body of a later format has its number in the key `$format`; a body without the key has number 1 (ADR 0027). */
export const DOCUMENT_FORMAT = defineFormat('model document', 1, [1]);

/** Writers of documents hold this lock shared until their references are committed; the sweep holds it exclusively. */
const LOCK = 7_236_101;
const CACHE_BYTES = 64 * 1024 * 1024;

export type DocumentCache = LRUCache<string, { body: unknown; bytes: number }>;

export function createDocumentCache(): DocumentCache {
  return new LRUCache({ maxSize: CACHE_BYTES, sizeCalculation: (entry) => Math.max(1, entry.bytes) });
}

export interface DocumentText {
  /** Lower-case hex. */
  digest: string;
  text: string;
}

export function documentOf(value: unknown): DocumentText {
  const text = JSON.stringify(value);
  return { digest: createHash('sha256').update(text).digest('hex'), text };
}

/** Parses the body of a stored document. @throws AppError when its format is unknown here. */
export function parseDocument(digest: string, text: string): unknown {
  const body: unknown = JSON.parse(text);
  requireFormat(DOCUMENT_FORMAT, (body as { $format?: unknown } | null)?.$format, `document ${digest}`);
  return body;
}

/** Characters up to which texts are sent without asking first which are missing: asking takes two more statements. */
const SMALL = 32_768;

const PUT = {
  name: 'documents-put',
  text: `with held as materialized (select pg_advisory_xact_lock_shared(${LOCK}))
    insert into documents (digest, body)
    select decode(d.digest, 'hex'), d.body::json from held, unnest($1::text[], $2::text[]) as d (digest, body)
    on conflict do nothing`,
};
const HOLD = { name: 'documents-hold', text: `select pg_advisory_xact_lock_shared(${LOCK})` };
const MISSING = {
  name: 'documents-missing',
  text: `select d.digest from unnest($1::text[]) as d (digest)
    where not exists (select 1 from documents x where x.digest = decode(d.digest, 'hex'))`,
};

/**
 * Stores missing texts. When there is much text, only the missing ones are sent: most deployments use blueprints whose documents
 * exist already. The caller commits its references in the same transaction.
 */
export async function putDocuments(tx: AnyTx, documents: readonly DocumentText[]): Promise<void> {
  const byDigest = new Map(documents.map((d) => [d.digest, d]));
  let wanted = [...byDigest.values()].sort((a, b) => (a.digest < b.digest ? -1 : 1));
  if (wanted.reduce((sum, { text }) => sum + text.length, 0) > SMALL) {
    // The lock is taken in a separate statement before the one that looks for missing documents: from then on nothing is swept.
    await prepared(tx, HOLD, []);
    const digests = wanted.map(({ digest }) => digest);
    const missing = await prepared<{ digest: string }>(tx, MISSING, [digests]);
    const isMissing = new Set(missing.map(({ digest }) => digest));
    wanted = wanted.filter(({ digest }) => isMissing.has(digest));
  }
  for (const some of inParts(wanted))
    await prepared(tx, PUT, [some.map(({ digest }) => digest), some.map(({ text }) => text)]);
}

/** Most characters of one statement; a larger text is sent alone. */
const PART = 1_048_576;

function* inParts(documents: readonly DocumentText[]): Generator<DocumentText[], void, void> {
  let part: DocumentText[] = [];
  let left = PART;
  for (const document of documents) {
    left -= document.text.length;
    if (left < 0 && part.length > 0) {
      yield part;
      part = [];
      left = PART - document.text.length;
    }
    part.push(document);
  }
  if (part.length > 0) yield part;
}

/**
 * Returns bodies by hex digest; cached ones are not read again.
 * @throws AppError when a later release has written a body in a format that is unknown here.
 */
export async function readDocuments(
  db: AnyQuery,
  cache: DocumentCache,
  digests: readonly string[],
): Promise<Map<string, unknown>> {
  const found = new Map<string, unknown>();
  const missing = new Set<string>();
  for (const digest of digests) {
    const hit = cache.get(digest);
    if (hit) found.set(digest, hit.body);
    else missing.add(digest);
  }
  if (missing.size === 0) return found;
  const { rows } = await sql<{ digest: string; body: string }>`
    select encode(digest, 'hex') as digest, body::text as body from documents
    where digest = any(array(select decode(d, 'hex') from unnest(${[...missing]}::text[]) d))`.execute(db);
  for (const row of rows) {
    const body: unknown = parseDocument(row.digest, row.body);
    cache.set(row.digest, { body, bytes: row.body.length });
    found.set(row.digest, body);
  }
  return found;
}

/** Deletes at most `limit` documents older than `keepMs` that no row refers to; returns their number. */
export async function sweepDocuments(db: Db<DB>, keepMs: number, limit: number): Promise<number> {
  return db.tx(async (tx) => {
    await sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx);
    // A separate statement: its snapshot sees every reference committed by writers that held the lock.
    const { rows } = await sql`
      delete from documents where digest in (
        select d.digest from documents d
        where d.created_at < app_now() - ${keepMs}::float8 * interval '1 millisecond'
          and not exists (select 1 from nodes n where n.definition = d.digest)
          and not exists (select 1 from deployment_plans p where p.model = d.digest)
        order by d.created_at limit ${limit})
      returning 1 as gone`.execute(tx);
    return rows.length;
  });
}
