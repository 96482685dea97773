import { catalogResourcesChanged, type ResourceChange } from '@baton/contracts';
import { type AnyTx, noteResource } from '@baton/postgres';

/** A blueprint or plugin, and the fields that decide who may see it. */
export interface OwnedResource {
  tenant: string;
  id: string;
  created_by: string;
  visibility: string;
}

/** Columns that statements return of the rows that they have changed. */
export const OWNED = ['tenant', 'id', 'created_by', 'visibility'] as const;

/** Reports changes to the streams of changes when `tx` commits. */
export function noteResources(
  tx: AnyTx,
  kind: 'blueprints' | 'plugins',
  operation: ResourceChange['operation'],
  rows: readonly OwnedResource[],
): void {
  for (const { tenant, id, created_by: createdBy, visibility } of rows)
    noteResource(tx, catalogResourcesChanged, tenant, {
      kind,
      id,
      operation,
      createdBy,
      visibility: visibility as ResourceChange['visibility'],
    });
}
