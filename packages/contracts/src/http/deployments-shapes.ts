import { z } from 'zod';

export {
  deploymentId,
  envelope,
  instant,
  jsonObject,
  labelOutput,
  labelsInput,
  ownedFields,
  queryBoolean,
  resourceId,
  visibility,
  widerVisibility,
} from './shapes';

/** Written by restores: needs the permissions set_timestamp and set_owner (reference/rest-api.md ch. 5). */
export const createdFields = { created_at: z.string().optional(), created_by: z.string().optional() };
