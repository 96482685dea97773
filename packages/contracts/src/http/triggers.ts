import { z } from 'zod';
import { defineRoutes } from '../route';
import { columnsOf } from './list-columns';
import { bodyFlag, deploymentId, envelope, instant, jsonObject, overlapSeconds, resourceId } from './shapes';

const MAX_PARAMETERS = 50;
const MAX_POINTER = 512;

const scheme = z.enum(['standard', 'github']);
/** RFC 6901, always below the root. */
const pointer = z
  .string()
  .max(MAX_POINTER)
  .regex(/^(\/([^~/]|~[01])*)+$/, 'must be a JSON pointer such as /commit/id');

/** Trigger: a signed request from outside starts a workflow as the user who made the trigger. */
const trigger = z
  .object({
    id: z.string(),
    path: z.string().describe('Path of the requests that start the workflow'),
    deployment_id: z.string(),
    workflow_id: z.string(),
    parameters: z
      .record(z.string(), z.string())
      .describe('Parameter of the workflow -> JSON pointer into the body'),
    fixed_parameters: jsonObject,
    scheme: scheme.describe('Signature: Standard Webhooks, or x-hub-signature-256 of GitHub'),
    is_enabled: z.boolean(),
    former_secret_until: instant.nullable().describe('End of the former secret after a rotation'),
    last_call_at: instant.nullable().describe('Latest genuine request of the last seven days'),
    last_execution_id: z.string().nullable().describe('Execution that this request has started'),
    created_at: instant,
    updated_at: instant,
    created_by: z.string(),
    tenant_name: z.string(),
  })
  .meta({ id: 'Trigger' });
const triggerFields = Object.keys(trigger.shape);

const secret = z
  .string()
  .min(24)
  .max(256)
  .describe('Absent: one is made. For the scheme standard `whsec_` and base64 of 24 to 64 bytes');
const shared = {
  deployment_id: deploymentId,
  workflow_id: z.string().min(1).max(256),
  parameters: z
    .record(z.string().min(1).max(256), pointer)
    .refine((all) => Object.keys(all).length <= MAX_PARAMETERS, `at most ${MAX_PARAMETERS} parameters`),
  fixed_parameters: jsonObject,
  is_enabled: bodyFlag,
};
export const putTriggerBody = z
  .strictObject({
    ...shared,
    parameters: shared.parameters.default({}),
    fixed_parameters: shared.fixed_parameters.default({}),
    scheme: scheme.default('standard'),
    secret: secret.optional(),
    is_enabled: shared.is_enabled.default(true),
  })
  .meta({ id: 'TriggerCreate' });
/** Without the scheme: the secret has its form. */
export const patchTriggerBody = z.strictObject(shared).partial().meta({ id: 'TriggerUpdate' });
export const rotateTriggerBody = z
  .strictObject({ overlap_s: overlapSeconds, secret: secret.optional() })
  .meta({ id: 'TriggerRotation' });

const columns = columnsOf(trigger);
/** The only answers that hold the secret. */
const withSecret = trigger.extend({ secret: z.string().describe('Shown only this once') });
const own = { owner: 'cluster-status', tenant: 'required', versions: ['v3.1'], spec: 'Baton' } as const;
const one = '/triggers/:trigger_id';

export const triggerRoutes = defineRoutes([
  {
    ...own,
    id: 'listTriggers',
    method: 'GET',
    path: '/triggers',
    permission: 'execution_schedule_list',
    summary: 'Triggers of the caller; all of the tenant for its managers',
    list: {
      fields: triggerFields,
      filters: columns,
      sorts: columns,
      search: 'id',
      defaultSort: [{ field: 'created_at', descending: false }],
      allowsAllTenants: false,
      allowsGetAll: true,
    },
    status: 200,
    response: envelope(trigger),
  },
  {
    ...own,
    id: 'getTrigger',
    method: 'GET',
    path: one,
    permission: 'execution_schedule_get',
    summary: 'One trigger',
    includeFields: triggerFields,
    status: 200,
    response: trigger,
  },
  {
    ...own,
    id: 'createTrigger',
    method: 'PUT',
    path: one,
    permission: 'execution_schedule_create',
    summary: 'Creates a trigger; the answer shows its secret this once',
    params: z.object({ trigger_id: resourceId }),
    body: putTriggerBody,
    status: 201,
    response: withSecret,
  },
  {
    ...own,
    id: 'updateTrigger',
    method: 'PATCH',
    path: one,
    permission: 'execution_schedule_create',
    summary: 'Changes a trigger; only its creator changes more than is_enabled',
    body: patchTriggerBody,
    status: 200,
    response: trigger,
  },
  {
    ...own,
    id: 'rotateTrigger',
    method: 'POST',
    path: `${one}/rotate`,
    permission: 'execution_schedule_create',
    summary: 'Makes a new secret for a trigger of the caller; the former one stays valid for a time',
    body: rotateTriggerBody,
    isBodyOptional: true,
    status: 200,
    response: withSecret,
  },
  {
    ...own,
    id: 'deleteTrigger',
    method: 'DELETE',
    path: one,
    permission: 'execution_schedule_create',
    summary: 'Deletes a trigger',
    status: 204,
  },
  {
    id: 'fireTrigger',
    method: 'POST',
    // The random address of the trigger (docs/adr/0033-webhooks.md), not its id.
    path: one,
    owner: 'cluster-status',
    tenant: 'none',
    permission: 'none',
    versions: ['v3.1'],
    spec: 'Baton',
    summary: 'Starts the workflow of a trigger; the signature of the body is the credential',
    rawBody: 'text',
    // The execution that it starts tells who and what.
    isNotAudited: true,
    status: 201,
    response: z.object({ execution_id: z.string() }),
  },
]);
