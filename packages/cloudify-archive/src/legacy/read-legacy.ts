import { ArchiveRefused } from '../archive-refused';
import { fernetKey } from '../ciphers/fernet';
import { readSecurityConfiguration } from '../ciphers/security-conf';
import { makeRecord } from '../model/make-record';
import type { ArchiveRecord } from '../model/record';
import type { Tally } from '../model/tally';
import { type RecordType, TENANT_TYPES } from '../model/types';
import type { Archive } from '../open-archive';
import type { ValueObject } from '../value';
import { LegacyBlobs } from './blobs';
import { bucketOf, type Collected, collect } from './collect';
import { type CompletionContext, complete, RowUnusable } from './complete';
import { DUMP_FILE } from './dump-reader';
import type { Line } from './lines';
import { groupOf, leftOut, type Members, userOf } from './members';
import { readRow } from './read-row';
import { findRoles, type RoleFinding } from './roles';
import { Row } from './row';
import { type MANAGER_TABLES, TENANT_TABLES } from './table-specs';

export interface LegacyOptions {
  /** Overrides encryption_key of rest-security.conf. */
  encryptionKey?: string;
  /** Names of roles by their number, where the archive does not tell them. */
  roles?: Readonly<Record<string, string>>;
  /** Hears of the roles once the dump has been read the first time, before the first record. */
  onRoles?: (roles: readonly RoleFinding[]) => void;
}

/**
 * Records of a legacy archive, in restore order. The dump is read once, and its rows are sorted into a temporary file of about its size;
 * keys and names of the tables that others refer to are held in memory.
 * @throws ArchiveRefused copy, limit, json, key or zip
 */
export async function* readLegacy(
  archive: Archive,
  tally: Tally,
  options: LegacyOptions,
): AsyncGenerator<ArchiveRecord, void, void> {
  const key = await keyOf(archive, options);
  const collected = await collect(archive, tally);
  try {
    const reader = new LegacyReader(archive, tally, collected, key);
    const members = await reader.members(options);
    options.onRoles?.([...members.roles.values()]);
    yield* reader.managerRecords(members);
    const tenants = [...collected.references.names('tenants')];
    for (const [tenantKey, tenant] of tenants)
      for (const type of TENANT_TYPES) yield* reader.tenantRecords(type, tenantKey, tenant);
    await reader.countForeign(new Set(tenants.map(([tenantKey]) => tenantKey)));
  } finally {
    await collected.spool.close();
  }
}

async function keyOf(archive: Archive, { encryptionKey }: LegacyOptions): Promise<CompletionContext['key']> {
  const text = encryptionKey ?? (await readSecurityConfiguration(archive))?.encryptionKey ?? null;
  const key = text === null ? null : fernetKey(text);
  if (text !== null && !key)
    throw new ArchiveRefused('key', 'the encryption key is none: expected 64 or 32 bytes as url-safe base64');
  return key;
}

const tablesOf = (type: RecordType): string[] =>
  Object.keys(TENANT_TABLES).filter((table) => TENANT_TABLES[table]!.type === type);

class LegacyReader {
  readonly #columns = new Map<string, ReadonlyMap<string, number>>();
  readonly #blobs: LegacyBlobs;
  readonly #context: CompletionContext;

  constructor(
    private readonly archive: Archive,
    private readonly tally: Tally,
    private readonly collected: Collected,
    key: CompletionContext['key'],
  ) {
    const { references, spool, tables } = collected;
    for (const [table, columns] of tables)
      this.#columns.set(table, new Map(columns.map((column, i) => [column, i])));
    this.#blobs = new LegacyBlobs(archive);
    const child = async (table: string, spot: { position: number; length: number }): Promise<Row> =>
      this.#row(table, await spool.row(spot));
    this.#context = { archive, references, key, child };
  }

  #row(table: string, line: Line): Row {
    return new Row(table, this.#columns.get(table)!, line, this.archive.limits);
  }

  /** Finds the names of the roles. */
  async members({ roles: given = {} }: LegacyOptions): Promise<Members> {
    const { references, spool } = this.collected;
    const permissions = new Map<number, Set<string>>();
    for await (const line of spool.rows(bucketOf('permissions'))) {
      const row = this.#row('permissions', line);
      const role = row.integer('role_id');
      const name = row.text('name');
      if (role === null || role === undefined || !name) continue;
      let names = permissions.get(role);
      if (!names) permissions.set(role, (names = new Set()));
      names.add(name);
    }
    const used = [
      ...references.joinedValues('users_roles', 0),
      ...references.joinedValues('groups_roles', 0),
      ...references.joinedValues('users_tenants', 1),
      ...references.joinedValues('groups_tenants', 1),
    ];
    const adminRoles = references.joined('users_roles', 0).map(([role]) => role!);
    return { references, roles: findRoles({ permissions, used, adminRoles, given }) };
  }

  async *managerRecords(members: Members): AsyncGenerator<ArchiveRecord, void, void> {
    yield* this.#managerRows('tenants', 'tenants', (row) => ({ name: row.text('name') ?? null }));
    yield* this.#managerRows('permissions', 'permissions', (row) => {
      const found = members.roles.get(row.integer('role_id') ?? Number.NaN);
      if (!found?.name)
        throw new RowUnusable(`role ${found?.id ?? 'of the row'} has no name; name it in the option roles`);
      return { role: found.name, permission: row.text('name') ?? null };
    });
    yield* this.#managerRows('groups', 'user_groups', (row) => groupOf(row, members));
    yield* this.#managerRows(
      'users',
      'users',
      (row) => userOf(row, members),
      (row) => leftOut(row.text('username')),
    );
  }

  async *#managerRows(
    table: (typeof MANAGER_TABLES)[number],
    type: RecordType,
    read: (row: Row) => ValueObject,
    notCarried: (row: Row) => string | null = () => null,
  ): AsyncGenerator<ArchiveRecord, void, void> {
    for await (const line of this.collected.spool.rows(bucketOf(table))) {
      const record = await this.#guarded(type, table, null, line, (row) => {
        const reason = notCarried(row);
        if (reason !== null) {
          this.tally.skip({ type, tenant: null, reason: 'not-carried', message: reason, place: row.place });
          return null;
        }
        return makeRecord(
          { type, tenant: null, raw: read(row), notes: row.notes, place: row.place, blob: null },
          this.tally,
        );
      });
      if (record) yield record;
    }
  }

  async *tenantRecords(
    type: RecordType,
    tenantKey: number,
    tenant: string,
  ): AsyncGenerator<ArchiveRecord, void, void> {
    for (const table of tablesOf(type))
      for await (const line of this.collected.spool.rows(bucketOf(table, tenantKey))) {
        const record = await this.#guarded(type, table, tenant, line, (row) =>
          this.#tenantRecord(type, table, tenant, row),
        );
        if (record) yield record;
      }
  }

  async #tenantRecord(
    type: RecordType,
    table: string,
    tenant: string,
    row: Row,
  ): Promise<ArchiveRecord | null> {
    const { references, tables } = this.collected;
    const { raw, notes, dangling } = readRow(TENANT_TABLES[table]!, tables.get(table)!, row, references);
    const skip = this.#reasonToSkip(type, raw, dangling);
    if (skip) {
      this.tally.skip({ type, tenant, place: row.place, ...skip });
      return null;
    }
    await complete(type, raw, row, this.#context);
    const blob = this.#blobs.blobOf(type, tenant, raw.id);
    return makeRecord({ type, tenant, raw, notes, place: row.place, blob }, this.tally);
  }

  #reasonToSkip(type: RecordType, raw: ValueObject, dangling: string | null) {
    const { deletedExecutions: deleted } = this.collected.references;
    const execution = type === 'executions' ? raw.id : raw.execution_id;
    const isOfExecution = type === 'executions' || type === 'events' || type === 'tasks_graphs';
    if (isOfExecution && typeof execution === 'string' && deleted.has(execution))
      return { reason: 'deleted-in-dump', message: 'the dump deletes the execution that wrote it' } as const;
    return dangling === null ? null : ({ reason: 'dangling', message: dangling } as const);
  }

  /** A row that cannot be read is told and skipped; the others are read on. */
  async #guarded(
    type: RecordType,
    table: string,
    tenant: string | null,
    line: Line,
    read: (row: Row) => ArchiveRecord | null | Promise<ArchiveRecord | null>,
  ): Promise<ArchiveRecord | null> {
    try {
      return await read(this.#row(table, line));
    } catch (error) {
      if (!(error instanceof ArchiveRefused || error instanceof RowUnusable)) throw error;
      const place = (error instanceof ArchiveRefused && error.place) || {
        file: DUMP_FILE,
        table,
        line: line.number,
      };
      const message = error instanceof ArchiveRefused ? error.reason : error.message;
      this.tally.skip({ type, tenant, reason: 'unreadable', message, place });
      return null;
    }
  }

  /** Counts the rows of tenants that are not in the dump. */
  async countForeign(tenants: ReadonlySet<number>): Promise<void> {
    const { spool } = this.collected;
    for (const bucket of spool.bucketNames()) {
      const [table, tenantKey] = bucket.split('/');
      const spec = TENANT_TABLES[table!];
      if (!spec || (tenantKey !== '' && tenants.has(Number(tenantKey)))) continue;
      let rows = 0;
      for await (const _ of spool.rows(bucket)) rows++;
      this.tally.skipMany({ type: spec.type, reason: 'foreign-tenant' }, rows);
    }
  }
}
