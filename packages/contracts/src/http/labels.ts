import { z } from 'zod';
import type { ListContract } from '../route';
import { envelope } from './shapes';

/** Answer of GET /labels/{kind} and /labels/{kind}/{key}: an envelope of texts (reference 4.2). */
export const labelTexts = envelope(z.string());

/** List conventions of the label lists; items are texts, so `_include` has no fields. */
export const labelList: ListContract = {
  fields: [],
  filters: [],
  sorts: [],
  search: 'value',
  defaultSort: [],
  allowsAllTenants: true,
  allowsGetAll: true,
  passedOver: ['filters', '_include', '_sort', '_all_tenants'],
};
