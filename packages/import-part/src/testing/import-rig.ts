/** Drives a service's part of imports in tests, as cluster-status does. */
import { importsRpc } from '@baton/contracts';
import { type JsonObject, newId } from '@baton/kernel';

interface Part {
  definition: unknown;
  handlers: unknown;
}

type Handlers = {
  stageRecords(request: importsRpc.StageRecordsRequest): Promise<unknown>;
  rehearse(request: importsRpc.ImportRequest): Promise<importsRpc.ImportOutcome>;
  apply(request: importsRpc.ImportRequest): Promise<importsRpc.ImportOutcome>;
  listFates(request: importsRpc.ListFatesRequest): AsyncIterable<importsRpc.FatePiece>;
  discardImport(request: importsRpc.DiscardImportRequest): Promise<unknown>;
  exportRecords(request: importsRpc.ExportRecordsRequest): AsyncIterable<importsRpc.RecordsPiece>;
};

export interface TestFate {
  type: string;
  tenant: string;
  id: string;
  fate: string;
  code?: string;
  text?: string;
}

/** A type of records with the tenant here; empty for types of the manager. */
export type Staged = readonly [type: string, tenant: string, items: readonly object[]];

export interface TestImport {
  importId: string;
  outcome: importsRpc.ImportOutcome;
  fates: TestFate[];
  /** `type/id` -> fate, or `fate code` where the report has a line of it. */
  told: Record<string, string>;
}

export interface ImportRig {
  stage(importId: string, staged: readonly Staged[]): Promise<void>;
  rehearse(staged: readonly Staged[], options?: object): Promise<TestImport>;
  /** Rehearses and applies; the outcome is that of the apply. */
  run(staged: readonly Staged[], options?: object): Promise<TestImport>;
  discard(importId: string): Promise<void>;
  exported(request: Partial<importsRpc.ExportRecordsRequest>): Promise<Record<string, JsonObject[]>>;
}

/** @param parts rpc parts of a service. @throws Error when it has no part in imports */
export function importRig(parts: readonly Part[]): ImportRig {
  const part = parts.find(({ definition }) => definition === importsRpc.ImportPartServiceDefinition);
  if (!part) throw new Error('the service has no part in imports');
  const handlers = part.handlers as Handlers;
  const stage = async (importId: string, staged: readonly Staged[]): Promise<void> => {
    for (const [batch, [type, tenant, items]] of staged.entries()) {
      const lines = items.map((item, i) => JSON.stringify({ item, place: `${type} ${i}` }));
      await handlers.stageRecords({ importId, type, tenant, batch, records: Buffer.from(lines.join('\n')) });
    }
  };
  const fatesOf = async (importId: string): Promise<TestFate[]> => {
    let text = '';
    for await (const { lines } of handlers.listFates({ importId }))
      text += `${Buffer.from(lines).toString()}\n`;
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as TestFate);
  };
  const taken = async (importId: string, outcome: importsRpc.ImportOutcome): Promise<TestImport> => {
    const fates = await fatesOf(importId);
    const told = Object.fromEntries(
      fates.map(({ type, id, fate, code }) => [`${type}/${id}`, code ? `${fate} ${code}` : fate]),
    );
    return { importId, outcome, fates, told };
  };
  const request = (importId: string, options: object, metDigest = ''): importsRpc.ImportRequest => ({
    importId,
    jobId: `job of ${importId}`,
    optionsJson: JSON.stringify(options),
    metDigest,
    source: 'cloudify 7.1',
  });
  return {
    stage,
    rehearse: async (staged, options = {}) => {
      const importId = newId();
      await stage(importId, staged);
      return await taken(importId, await handlers.rehearse(request(importId, options)));
    },
    run: async (staged, options = {}) => {
      const importId = newId();
      await stage(importId, staged);
      const { metDigest } = await handlers.rehearse(request(importId, options));
      return await taken(importId, await handlers.apply(request(importId, options, metDigest)));
    },
    discard: async (importId) => void (await handlers.discardImport({ importId })),
    exported: async (wanted) => {
      const types: Record<string, JsonObject[]> = {};
      const whole = {
        tenant: '',
        deploymentId: '',
        closureJson: '',
        includeEvents: false,
        bundleKey: '',
        ...wanted,
      };
      for await (const { type, records } of handlers.exportRecords(whole)) {
        const lines = Buffer.from(records).toString().split('\n');
        const items = lines
          .filter((line) => line !== '')
          .map((line) => (JSON.parse(line) as { item: JsonObject }).item);
        types[type] = [...(types[type] ?? []), ...items];
      }
      return types;
    },
  };
}
