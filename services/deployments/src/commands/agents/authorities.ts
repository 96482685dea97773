/**
 * The authorities of agents. The newest own one signs agents. The oldest that is not retired signs the listener: agents that have not
 * been connected since a change trust only it. It is retired when no valid certificate of it is left, or after 31 days.
 */
import { X509Certificate } from 'node:crypto';
import { AppError, badParameter, type Clock, type Log, newId, Secret } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { newAuthority, openSigner, type Signer } from '@baton/tls/signing';
import { LRUCache } from 'lru-cache';
import type { TextSealPort } from '../../adapters/agents/text-seal.client';
import {
  type AuthorityRow,
  countCertified,
  insertAuthority,
  lockAuthorities,
  type NewAuthorityRow,
  resealAuthority,
  retireAuthorities,
  supersedeAuthorities,
  trustedAuthorities,
} from '../../store/agents/authorities.sql';
import type { DB } from '../../store/tables.gen';

const RETIRED_AFTER_MS = 31 * 86_400_000;
/** Most authorities that are trusted at one time: agents keep all of them. */
const MOST_TRUSTED = 8;
const MOST_OPENED = 20;
const MAX_GIVEN = 10;

export interface AuthorityDeps {
  db: Db<DB>;
  seals: TextSealPort;
  clock: Clock;
  log: Log;
  /** Opened keys by the id of their authority. */
  opened: LRUCache<string, Signer>;
}

export const openedKeys = (): AuthorityDeps['opened'] => new LRUCache({ max: MOST_OPENED });

/** An authority that can sign. */
export interface SigningAuthority {
  id: string;
  signer: Signer;
}

const useOf = (id: string): string => `agent-authorities/${id}`;
const isOwn = ({ kind }: AuthorityRow): boolean => kind === 'own';
const pemOf = (rows: readonly AuthorityRow[]): string => rows.map(({ certificate }) => certificate).join('');

/** PEM of all authorities that agents trust. */
export const trustedPem = async ({ db }: Pick<AuthorityDeps, 'db'>): Promise<string> =>
  pemOf(await trustedAuthorities(db.query));

/**
 * Returns the authority that signs agents; the first call on a new manager makes it. Not in a transaction. *Crash:* a key without a row is
 * lost, and nothing has been signed with it.
 * @throws AppError service_unavailable_error when its key cannot be opened
 */
export async function agentSigner(deps: AuthorityDeps): Promise<SigningAuthority> {
  const present = await signingAuthority(deps);
  const signer = await open(deps, present);
  if (signer === null) throw lostKey(present.id);
  return { id: present.id, signer };
}

/**
 * Returns the authority that signs the listener, and PEM of all whose agents are let in. An authority whose key is lost is passed over.
 * @throws as agentSigner
 */
export async function listenerSigner(
  deps: AuthorityDeps,
): Promise<SigningAuthority & { authorities: string }> {
  const newest = await signingAuthority(deps);
  const own = (await trustedAuthorities(deps.db.query)).filter(isOwn);
  for (const row of own) {
    const signer = await open(deps, row);
    if (signer) return { id: row.id, signer, authorities: pemOf(own) };
  }
  throw lostKey(newest.id);
}

const signingAuthority = async (deps: AuthorityDeps): Promise<AuthorityRow> =>
  signing(await trustedAuthorities(deps.db.query)) ?? (await firstAuthority(deps));

const signing = (rows: readonly AuthorityRow[]): AuthorityRow | undefined =>
  rows.find((row) => isOwn(row) && row.superseded_at === null);

async function firstAuthority(deps: AuthorityDeps): Promise<AuthorityRow> {
  const { row } = await make(deps);
  return await deps.db.tx(async (tx) => {
    const already = signing(await lockAuthorities(tx));
    if (already) return already;
    await insertAuthority(tx, row);
    return { ...row, superseded_at: null };
  });
}

/** Makes a key, sealed by the secrets service. */
async function make({ seals, clock, opened }: AuthorityDeps): Promise<{ row: NewAuthorityRow }> {
  const id = newId();
  const { cert, key, notAfterMs } = await newAuthority(`Baton agents ${id}`, clock.now());
  const key_sealed = await seals.seal(useOf(id), new Secret(key));
  opened.set(id, await openSigner({ cert, key }));
  return {
    row: { id, kind: 'own', certificate: cert, key_sealed, expires_at: new Date(notAfterMs).toISOString() },
  };
}

/** Returns null when no configured master key opens the key. */
async function open(
  { opened, seals }: AuthorityDeps,
  { id, certificate, key_sealed: sealed }: AuthorityRow,
): Promise<Signer | null> {
  const known = opened.get(id);
  if (known) return known;
  const key = await seals.open(useOf(id), sealed!);
  if (!key) return null;
  const signer = await openSigner({ cert: certificate, key: key.text.expose() });
  opened.set(id, signer);
  return signer;
}

const lostKey = (id: string): AppError =>
  new AppError(
    'service_unavailable_error',
    `The key of the authority of agents ${id} cannot be opened: the master key of secrets under which it was sealed is not configured. Configure that key, or make a new authority (PATCH /agents) and install the agents again`,
    { authority: id },
  );

/**
 * Replaces the authority that signs agents, or adds given ones to those that agents trust. Agents trust old and new, and get new
 * certificates over their streams.
 * @param given PEM of certificates of authorities; null: makes a new own authority
 * @returns the number of agents of all tenants that must switch
 * @throws AppError bad_parameters_error; conflict_error while too many former authorities are trusted
 */
export async function replaceAuthority(deps: AuthorityDeps, given: string | null): Promise<number> {
  const rows = given === null ? [(await make(deps)).row] : readGiven(given, deps.clock.now());
  return await deps.db.tx(async (tx) => {
    const trusted = await lockAuthorities(tx);
    const isKnown = (row: NewAuthorityRow) => trusted.some((one) => one.certificate === row.certificate);
    if (rows.every(isKnown)) return await countCertified(tx);
    if (trusted.length + rows.length > MOST_TRUSTED)
      throw new AppError(
        'conflict_error',
        `Agents trust ${trusted.length} authorities already; wait until former ones are retired, at most 31 days after their replacement`,
        { expected: `at most ${MOST_TRUSTED} authorities` },
      );
    await supersedeAuthorities(tx, rows[0]!.kind);
    for (const row of rows.filter((one) => !isKnown(one))) await insertAuthority(tx, row);
    return await countCertified(tx);
  });
}

const BLOCK = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

function readGiven(pem: string, nowMs: number): NewAuthorityRow[] {
  const bad = (why: string) =>
    badParameter('manager_ca_cert', `manager_ca_cert ${why}`, {
      expected: `1 to ${MAX_GIVEN} certificates of authorities in PEM`,
    });
  const blocks = pem.match(BLOCK) ?? [];
  if (blocks.length === 0 || blocks.length > MAX_GIVEN) throw bad(`has ${blocks.length} certificates`);
  return blocks.map((block, at) => {
    const which = `certificate ${at + 1}`;
    let read: X509Certificate;
    try {
      read = new X509Certificate(block);
    } catch {
      throw bad(`cannot be read (${which})`);
    }
    const until = new Date(read.validTo);
    if (!read.ca) throw bad(`does not belong to an authority (${which})`);
    if (!(until.getTime() > nowMs)) throw bad(`has expired (${which})`);
    const certificate = `${read.toString().trim()}\n`;
    return { id: newId(), kind: 'given', certificate, key_sealed: null, expires_at: until.toISOString() };
  });
}

/**
 * Retires authorities that are not needed any more, and seals keys anew that a former master key has sealed. *Crash:* the next call
 * begins anew.
 */
export async function tendAuthorities(deps: AuthorityDeps): Promise<void> {
  const trusted = await trustedAuthorities(deps.db.query);
  if (trusted.length === 0) return;
  const retired = await deps.db.tx((tx) => retireAuthorities(tx, RETIRED_AFTER_MS));
  if (retired.length > 0) deps.log.info({ authorities: retired }, 'authorities of agents were retired');
  for (const { id, key_sealed: sealed } of trusted.filter((row) => isOwn(row) && !retired.includes(row.id))) {
    const key = await deps.seals.open(useOf(id), sealed!);
    if (key === null) deps.log.error({ authority: id }, 'the key of an authority of agents cannot be opened');
    if (!key?.isOutdated) continue;
    const anew = await deps.seals.seal(useOf(id), key.text);
    await deps.db.tx((tx) => resealAuthority(tx, id, sealed!, anew));
  }
}
