/** Reads archives and runs the import part of a service under test, as cluster-status does. */
import { join } from 'node:path';
import { exactJson, openArchive, records, TENANT_TYPES, type Value } from '@baton/cloudify-archive';
import { makeEstate } from '@baton/cloudify-archive/testing';
import { importsRpc } from '@baton/contracts';
import { newId } from '@baton/kernel';
import { fileSource } from '@baton/zip-reader';

export { type ImportRig, importRig } from './import-rig';

/** Written by a Cloudify Manager 7.1 (community). */
export const S71 = join(__dirname, '../../../cloudify-archive/test-archives/cloudify-7.1-community.zip');

export interface TestRecord {
  type: string;
  tenant: string;
  /** JSON text. */
  item: string;
}

export const testRecord = (type: string, item: unknown, tenant = 'default_tenant'): TestRecord => ({
  type,
  tenant,
  item: exactJson(item as Value),
});

/** All records of tenants in the archive of 7.1. */
export async function recordsOfS71(): Promise<TestRecord[]> {
  const archive = await openArchive(await fileSource(S71));
  try {
    const all: TestRecord[] = [];
    for await (const { type, tenant, item } of records(archive))
      if (tenant !== null && (TENANT_TYPES as readonly string[]).includes(type))
        all.push(testRecord(type, item, tenant));
    return all;
  } finally {
    await archive.close();
  }
}

/** Records of a made estate with all types. */
export function recordsOfEstate(): TestRecord[] {
  return Object.entries(makeEstate().tenants).flatMap(([tenant, types]) =>
    Object.entries(types).flatMap(([type, items]) => items.map((item) => testRecord(type, item, tenant))),
  );
}

interface Handlers {
  stageRecords(request: importsRpc.StageRecordsRequest): Promise<unknown>;
  rehearse(request: importsRpc.ImportRequest): Promise<importsRpc.ImportOutcome>;
  apply(request: importsRpc.ImportRequest): Promise<importsRpc.ImportOutcome>;
  listFates(request: importsRpc.ListFatesRequest): AsyncIterable<importsRpc.FatePiece>;
  activate(request: importsRpc.ActivateRequest): Promise<importsRpc.ActivateResponse>;
  exportRecords(request: importsRpc.ExportRecordsRequest): AsyncIterable<importsRpc.RecordsPiece>;
}

export interface RunImport {
  outcome: importsRpc.ImportOutcome;
  /** Counts that are not 0, by type. */
  counts: Record<string, Record<string, number>>;
  fates: { type: string; id: string; fate: string; code?: string; text?: string }[];
  importId: string;
}

/** Runs imports on the part of a service. `types`: those that the service owns. */
export function importsOn(
  parts: readonly { definition: unknown; handlers: unknown }[],
  types: readonly string[],
) {
  const part = parts.find(({ definition }) => definition === importsRpc.ImportPartServiceDefinition);
  const handlers = part!.handlers as unknown as Handlers;
  return {
    activate: (tenant: string, deploymentIds: string[] = [], withSchedules = false) =>
      handlers.activate({ tenant, deploymentIds, withSchedules }),
    /** Records of a tenant, or of one deployment, as a bundle has them. */
    async exported(tenant: string, deploymentId = ''): Promise<TestRecord[]> {
      const found: TestRecord[] = [];
      const request = { tenant, deploymentId, closureJson: '', includeEvents: true, bundleKey: '' };
      for await (const { type, records } of handlers.exportRecords(request))
        for (const line of Buffer.from(records).toString().split('\n'))
          found.push({ type, tenant, item: line.slice('{"item":'.length, -1) });
      return found;
    },
    async run(
      records: readonly TestRecord[],
      { options = {}, step = 'apply' }: { options?: object; step?: 'apply' | 'rehearse' } = {},
    ): Promise<RunImport> {
      const importId = newId();
      await stage(
        handlers,
        importId,
        records.filter(({ type }) => types.includes(type)),
      );
      const request = {
        importId,
        optionsJson: JSON.stringify(options),
        metDigest: '',
        jobId: `job of ${importId}`,
        source: 'cloudify 7.1.0',
      };
      const rehearsed = await handlers.rehearse(request);
      const outcome =
        step === 'rehearse'
          ? rehearsed
          : await handlers.apply({ ...request, metDigest: rehearsed.metDigest });
      const counts = Object.fromEntries(
        outcome.types.map(({ type, ...of }) => [
          type,
          Object.fromEntries(Object.entries(of).filter(([, count]) => count !== 0)),
        ]),
      );
      const fates: RunImport['fates'] = [];
      for await (const { lines } of handlers.listFates({ importId }))
        for (const line of Buffer.from(lines).toString().split('\n')) fates.push(JSON.parse(line));
      return { outcome, counts, fates, importId };
    },
  };
}

async function stage(handlers: Handlers, importId: string, records: readonly TestRecord[]): Promise<void> {
  const batches = new Map<string, TestRecord[]>();
  for (const record of records) {
    const key = `${record.tenant} ${record.type}`;
    batches.set(key, [...(batches.get(key) ?? []), record]);
  }
  for (const batch of batches.values()) {
    const { type, tenant } = batch[0]!;
    const lines = batch.map(({ item }, n) => `{"item":${item},"place":"line ${n}"}`).join('\n');
    await handlers.stageRecords({ importId, type, tenant, batch: 0, records: Buffer.from(lines) });
  }
}
