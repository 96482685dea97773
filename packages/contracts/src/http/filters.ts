import { z } from 'zod';
import type { ListContract } from '../route';
import { columnsOf } from './list-columns';
import { createdFields, envelope, instant, ownedFields, visibility } from './shapes';

/** A rule in its stored form (spec v3.1 part 2); requests are checked rule by rule in ../filter-rules for better errors. */
const filterRule = z.object({
  key: z.string(),
  values: z.array(z.string()),
  operator: z.string(),
  type: z.enum(['label', 'attribute']),
});

/** Stored filter of blueprints or deployments. */
export const filter = z
  .object({
    ...ownedFields,
    id: z.string(),
    value: z.array(filterRule),
    labels_filter_rules: z.array(filterRule),
    attrs_filter_rules: z.array(filterRule),
    updated_at: instant,
    is_system_filter: z.boolean(),
  })
  .meta({ id: 'Filter' });
export const filters = envelope(filter);

export const filterFields = Object.keys(filter.shape);

export const putFilterBody = z
  .object({ filter_rules: z.unknown(), visibility: visibility.default('tenant'), ...createdFields })
  .meta({ id: 'FilterCreate' });
export const patchFilterBody = z
  .object({ filter_rules: z.unknown().optional(), visibility: visibility.optional() })
  .meta({ id: 'FilterUpdate' });

/** reference 5.11: no field filters. */
export const filterList: ListContract = {
  fields: filterFields,
  filters: [],
  ignoresOthers: true,
  sorts: columnsOf(filter),
  search: 'id',
  defaultSort: [{ field: 'created_at', descending: false }],
  allowsAllTenants: true,
  allowsGetAll: true,
};

/** Body of POST /searches/{kind}: rules or constraints, never both. */
export const searchBody = z
  .object({ filter_rules: z.unknown().optional(), constraints: z.unknown().optional() })
  .meta({ id: 'Search' });
