import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type importsRpc, snapshotsRpc } from '@baton/contracts';
import { createImportPart, type Fate, type Importer, type StagedRecord } from '@baton/import-part';
import { silentLog } from '@baton/kernel';
import { createDb, type Db } from '@baton/postgres';
import type { LocalRpc, ServedCall } from '@baton/rpc';
import { type TestDatabase, testDatabase } from '@baton/testkit';
import { IMPORT_ORDER, type ImportService } from '../domain/owners';

const PART_MIGRATION = join(__dirname, '../../../../deployments/migrations/0330_import_part.sql');
const THINGS = `create table things (type text, tenant text, id text, content text, primary key (type, tenant, id));`;

/** Types that each service takes over; secrets takes none. */
const TYPES: Record<ImportService, readonly string[]> = {
  identity: ['tenants', 'users'],
  secrets: [],
  catalog: ['blueprints'],
  deployments: ['sites', 'deployments', 'nodes', 'node_instances', 'deployments_filters'],
  executions: ['executions', 'events', 'tasks_graphs', 'execution_schedules'],
};

const idOf = ({ item, place }: StagedRecord): string =>
  `${String(item.deployment_id ?? '')}/${String(item.id ?? item.name ?? item.username ?? place)}`;

/** Keeps each record as a row, by the rules of importers: the same content is `same`, other content goes by on_conflict. */
function keeper(type: string): Importer {
  return {
    type,
    async take({ client, tenant, options }, records) {
      const fates: Fate[] = [];
      for (const record of records) {
        const id = idOf(record);
        const content = JSON.stringify(record.item);
        const of = [type, tenant, id];
        const { rows } = await client.query<{ content: string }>(
          'select content from things where type = $1 and tenant = $2 and id = $3',
          of,
        );
        const met = rows[0]?.content;
        if (met === content) fates.push({ id, fate: 'same', met });
        else if (met !== undefined && options.on_conflict === 'fail')
          fates.push({ id, fate: 'conflict', code: 'taken', text: 'It is here with other content', met });
        else if (met !== undefined && options.on_conflict === 'skip')
          fates.push({ id, fate: 'skipped', code: 'taken', text: 'It is here with other content', met });
        else {
          await client.query(
            `insert into things (type, tenant, id, content) values ($1, $2, $3, $4)
             on conflict (type, tenant, id) do update set content = excluded.content`,
            [...of, content],
          );
          fates.push(
            met === undefined ? { id, fate: 'imported' } : { id, fate: 'replaced', code: 'taken', met },
          );
        }
      }
      return fates;
    },
  };
}

export interface EstateServices {
  serve(rpc: LocalRpc): void;
  /** Rows of a service by `type tenant id`. */
  things(service: ImportService): Promise<Record<string, string>>;
  run(service: ImportService, statement: string): Promise<{ rows: Record<string, unknown>[] }>;
  /** Called around the calls of a service, as `stage catalog`, `apply executions` and `applied executions`; its error reaches the caller. */
  at: (place: string) => void;
  noted: string[];
  activated: importsRpc.ActivateRequest[];
  close(): Promise<void>;
}

/** The five services of an import, with the real import part and importers that keep what they get. */
export async function startEstateServices(): Promise<EstateServices> {
  const dir = await mkdtemp(join(tmpdir(), 'baton-estate-'));
  await cp(PART_MIGRATION, join(dir, '0001_import_part.sql'));
  await writeFile(join(dir, '0002_things.sql'), `-- expand\n${THINGS}\n`);
  const database: TestDatabase = await testDatabase({
    migrations: IMPORT_ORDER.map((schema) => ({ schema, dir })),
  });
  const dbs = Object.fromEntries(
    IMPORT_ORDER.map((schema) => [
      schema,
      createDb({ url: database.url, schema, applicationName: 'estate-test', log: silentLog }),
    ]),
  ) as Record<ImportService, Db<unknown>>;
  const estate: EstateServices = {
    serve: (rpc) => {
      for (const service of IMPORT_ORDER) serveOne(rpc, service, dbs[service], estate);
    },
    things: async (service) => {
      const { rows } = await dbs[service].pool.query('select * from things');
      return Object.fromEntries(rows.map((row) => [`${row.type} ${row.tenant} ${row.id}`, row.content]));
    },
    run: (service, statement) => dbs[service].pool.query(statement),
    at: () => undefined,
    noted: [],
    activated: [],
    close: async () => {
      for (const db of Object.values(dbs)) await db.close();
      await database.drop();
      await rm(dir, { recursive: true, force: true });
    },
  };
  return estate;
}

function serveOne(rpc: LocalRpc, service: ImportService, db: Db<unknown>, estate: EstateServices): void {
  const importers = TYPES[service].map(keeper);
  const { definition, handlers } = createImportPart({ db, tables: { importers }, log: silentLog });
  rpc.serve(service, definition, {
    ...handlers,
    stageRecords: async (request: importsRpc.StageRecordsRequest, call: ServedCall) => {
      estate.at(`stage ${service}`);
      return handlers.stageRecords(request, call);
    },
    rehearse: async (request: importsRpc.ImportRequest, call: ServedCall) => {
      estate.at(`rehearse ${service}`);
      return handlers.rehearse(request, call);
    },
    apply: async (request: importsRpc.ImportRequest, call: ServedCall) => {
      estate.at(`apply ${service}`);
      const outcome = await handlers.apply(request, call);
      estate.at(`applied ${service}`);
      return outcome;
    },
    activate: async (request: importsRpc.ActivateRequest) => {
      estate.activated.push(request);
      return { deployments: service === 'deployments' ? 2 : 0, schedules: service === 'executions' ? 1 : 0 };
    },
  } as never);
  if (service !== 'catalog' && service !== 'deployments') return;
  rpc.serve(service, snapshotsRpc.SnapshotPartServiceDefinition, {
    noteBlobs: async ({ digests }: { digests: string[] }) => {
      estate.noted.push(...digests);
      return {};
    },
  } as never);
}
