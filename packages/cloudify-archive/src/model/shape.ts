import type { Field } from './fields';

/** What an item of one type looks like, whatever archive it comes from. */
export interface Shape {
  /** Fields that identify an item within its tenant; no fields: items have no identity (events). */
  key: readonly string[];
  fields: Readonly<Record<string, Field<unknown>>>;
  /** Fields that originals write and nobody needs: credentials of brokers, counts that can be computed. */
  dropped?: readonly string[];
}
