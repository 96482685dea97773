import { z } from 'zod';

/** Visibility of a resource (reference/rest-api.md 4.4). */
export const visibility = z.enum(['private', 'tenant', 'global']);
/** Values that set-visibility accepts: it can only widen. */
export const widerVisibility = z.enum(['tenant', 'global']);

/** Ids of blueprints, secrets, sites, filters, tenants, users, ... (reference/rest-api.md 4.1). */
export const resourceId = z
  .string()
  .min(1)
  .max(256)
  .regex(
    /^[A-Za-z][A-Za-z0-9._~-]*$/,
    'must start with an ASCII letter and hold only letters, digits, "-", ".", "_"',
  );
/** Deployment ids may start with any allowed character. */
export const deploymentId = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[A-Za-z0-9._~-]+$/, 'may hold only letters, digits, "-", ".", "_"');

export const instant = z.string().describe('ISO 8601 UTC with milliseconds and Z');
export const jsonObject = z.record(z.string(), z.unknown());

/** `[{key: value}]`; a value is a text or a list of texts (reference/rest-api.md 4.2). */
export const labelsInput = z.array(z.record(z.string(), z.union([z.string(), z.array(z.string())])));
export const labelOutput = z.object({
  key: z.string(),
  value: z.string(),
  created_at: instant,
  creator_id: z.number().int(),
  created_by: z.string().optional(),
});

/** Fields that most resources carry in responses (spec v3.1 part 1). */
export const ownedFields = {
  created_at: instant,
  created_by: z.string(),
  tenant_name: z.string(),
  visibility,
  private_resource: z.boolean(),
  resource_availability: visibility,
};

const pagination = z.object({
  total: z.number().int(),
  offset: z.number().int(),
  size: z.number().int(),
});
/** The list envelope of every list. */
export function envelope<T extends z.ZodType>(item: T) {
  return z.object({
    items: z.array(item),
    metadata: z.object({ pagination, filtered: z.number().int().nullable().optional() }),
  });
}

/**
 * The same for a list that can be read with `_after`: the page then has the cursor of the next page, and no total
 * unless requested.
 */
export function cursorEnvelope<T extends z.ZodType>(item: T) {
  return z.object({
    items: z.array(item),
    metadata: z.object({
      pagination: pagination.extend({
        total: z.number().int().optional(),
        next: z.string().nullable().optional(),
      }),
      filtered: z.number().int().nullable().optional(),
    }),
  });
}

/** true/false in a query string, case-insensitive. */
export const queryBoolean = z
  .string()
  .regex(/^(true|false)$/i, 'must be true or false')
  .transform((text) => text.toLowerCase() === 'true');

/** A boolean in a body that may also be written as the word, as every client of the original may (reference/rest-api.md 4.5). */
export const bodyFlag = z.union([z.boolean(), queryBoolean]);

/** How long a former secret stays valid after a rotation, in seconds: at most, and by default. */
const MOST_OVERLAP_S = 7 * 86_400;
const USUAL_OVERLAP_S = 86_400;
export const overlapSeconds = z
  .number()
  .int()
  .min(0)
  .max(MOST_OVERLAP_S)
  .default(USUAL_OVERLAP_S)
  .describe('How long both secrets are valid, in seconds');

const time = z.string().optional().describe('Needs set_timestamp');
const user = z.string().optional().describe('An active user; another one than oneself needs set_owner');
/** Creation time and creator of a resource, as restores send them; read by ownershipOf (reference/rest-api.md ch. 5). */
export const createdFields = { created_at: time, created_by: user };
/** The same for an existing resource; read by changedOwnership. */
export const changedOwnershipFields = { created_at: time, creator: user.describe('Needs set_owner') };
