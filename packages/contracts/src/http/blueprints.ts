import { z } from 'zod';
import { defineRoutes, type ListContract } from '../route';
import { legacyFields } from './legacy-fields';
import { columnsOf } from './list-columns';
import {
  createdFields,
  envelope,
  instant,
  jsonObject,
  labelOutput,
  ownedFields,
  queryBoolean,
  resourceId,
  visibility,
  widerVisibility,
} from './shapes';

/** reference 6.5: the five failures and `uploaded` are final states. `validating` occurs only in the answer of a validation. */
export const blueprintState = z.enum([
  'pending',
  'uploading',
  'extracting',
  'parsing',
  'uploaded',
  'failed_uploading',
  'failed_extracting',
  'failed_parsing',
  'failed_extracting_to_file_server',
  'invalid',
  'validating',
]);

/** spec v3.1 part 1, Blueprint; further fields of reference 5.1. */
const blueprint = z
  .object({
    ...ownedFields,
    id: z.string(),
    description: z.string().nullable(),
    main_file_name: z.string(),
    plan: jsonObject.nullable(),
    requirements: jsonObject.nullable(),
    updated_at: instant,
    is_hidden: z.boolean(),
    state: blueprintState,
    error: z.string().nullable(),
    error_traceback: z.string().nullable(),
    labels: z.array(labelOutput),
    upload_execution: jsonObject.nullable(),
    has_icon: z.boolean().describe('GET /blueprints/{blueprint_id}/icon gives it'),
  })
  .meta({ id: 'Blueprint' });
export const blueprints = envelope(blueprint);
const blueprintFields = Object.keys(blueprint.shape);

/** The fields of a blueprint in v2.1 (spec v2.1). */
const blueprintV21 = z
  .object({
    id: z.string(),
    description: z.string().nullable(),
    main_file_name: z.string(),
    plan: jsonObject.nullable(),
    created_at: z.string().describe('YYYY-MM-DD hh:mm:ss.ffffff'),
    updated_at: z.string().describe('YYYY-MM-DD hh:mm:ss.ffffff'),
  })
  .meta({ id: 'BlueprintV21' });
const blueprintOfAnyVersion = z.union([blueprint, blueprintV21]);
const blueprintsOfAnyVersion = envelope(blueprintOfAnyVersion);

const plainColumns = columnsOf(blueprint);
export const blueprintList: ListContract = {
  fields: blueprintFields,
  filters: plainColumns,
  sorts: [...plainColumns, 'label:*'],
  search: 'id',
  defaultSort: [{ field: 'created_at', descending: false }],
  extra: { _filter_id: 'text' },
  allowsAllTenants: true,
  allowsGetAll: true,
};

/** Arguments of an upload: in the query or, with multipart, in the part `params`. */
const uploadArguments = z.object({
  application_file_name: z.string().max(1024).default(''),
  blueprint_archive_url: z.string().max(4096).optional(),
  visibility: visibility.optional(),
  private_resource: queryBoolean.optional(),
  async_upload: queryBoolean.default(false),
  /** `<key1>=<val1>,<key2>=<val2>`. */
  labels: z.string().optional(),
  ...createdFields,
});

/** The same arguments in the JSON part `params` of a multipart upload; unknown keys of clients are ignored. */
const flag = z.union([z.boolean(), queryBoolean]);
export const uploadParams = z.object({
  application_file_name: z
    .string()
    .max(1024)
    .nullish()
    .transform((v) => v ?? undefined),
  blueprint_archive_url: z
    .string()
    .max(4096)
    .nullish()
    .transform((v) => v ?? undefined),
  visibility: visibility.nullish().transform((v) => v ?? undefined),
  private_resource: flag.nullish().transform((v) => v ?? undefined),
  async_upload: flag.nullish().transform((v) => v ?? undefined),
  /** [{key, value}], [{<key>: <value>}] or the text of the query. */
  labels: z.unknown().optional(),
  created_at: createdFields.created_at.nullish().transform((v) => v ?? undefined),
  created_by: createdFields.created_by.nullish().transform((v) => v ?? undefined),
});

const summaryField = z.enum(['tenant_name', 'visibility']);
const id = { params: z.object({ blueprint_id: resourceId }) };
const owned = { owner: 'catalog', tenant: 'required' } as const;
const path = '/blueprints/:blueprint_id';

export const blueprintRoutes = defineRoutes([
  {
    ...owned,
    id: 'listBlueprints',
    method: 'GET',
    path: '/blueprints',
    permission: 'blueprint_list',
    versions: ['v3.1', 'v2.1'],
    summary: 'Blueprints; hidden ones only when the filter is_hidden asks for them',
    spec: 'v3.1-part1 Blueprints',
    list: blueprintList,
    legacyFields: legacyFields.blueprint,
    status: 200,
    response: blueprintsOfAnyVersion,
  },
  {
    ...owned,
    id: 'getBlueprint',
    method: 'GET',
    path,
    permission: 'blueprint_get',
    versions: ['v3.1', 'v2.1'],
    summary: 'One blueprint',
    spec: 'reference 3.3',
    status: 200,
    response: blueprintOfAnyVersion,
    includeFields: blueprintFields,
    legacyFields: legacyFields.blueprint,
  },
  {
    ...owned,
    ...id,
    id: 'uploadBlueprint',
    method: 'PUT',
    path,
    permission: 'blueprint_upload',
    versions: ['v3.1', 'v2.1'],
    summary: 'Uploads a blueprint archive: raw or chunked body, multipart, or a URL to fetch',
    spec: 'v3.1-part1 Blueprints',
    query: uploadArguments,
    rawBody: 'archive',
    status: 201,
    response: blueprintOfAnyVersion,
    includeFields: blueprintFields,
    legacyFields: legacyFields.blueprint,
  },
  {
    ...owned,
    ...id,
    id: 'validateBlueprint',
    method: 'PUT',
    path: `${path}/validate`,
    permission: 'blueprint_upload',
    versions: ['v3.1'],
    summary: 'Checks an archive as an upload would, and stores nothing',
    spec: 'v3.1-part1 Blueprints',
    query: uploadArguments,
    rawBody: 'archive',
    status: 204,
  },
  {
    ...owned,
    id: 'deleteBlueprint',
    method: 'DELETE',
    path,
    permission: 'blueprint_delete',
    versions: ['v3.1', 'v2.1'],
    summary: 'Deletes a blueprint that no deployment uses',
    spec: 'v3.1-part1 Blueprints',
    query: z.object({ force: queryBoolean.default(false) }),
    status: 204,
  },
  {
    ...owned,
    id: 'patchBlueprint',
    method: 'PATCH',
    path,
    permission: 'blueprint_upload',
    versions: ['v3.1'],
    summary: 'Replaces the labels or the description; restores say creator and created_at',
    spec: 'v3.1-part1 Blueprints',
    body: z.record(z.string(), z.unknown()),
    isBodyReadPlainly: true,
    status: 200,
    response: blueprint,
    includeFields: blueprintFields,
  },
  {
    ...owned,
    id: 'downloadBlueprint',
    method: 'GET',
    path: `${path}/archive`,
    permission: 'blueprint_download',
    versions: ['v3.1', 'v2.1'],
    summary: 'The archive as it was uploaded',
    spec: 'v3.1-part1 Blueprints',
    status: 200,
    responseKind: 'stream',
  },
  {
    ...owned,
    id: 'setBlueprintVisibility',
    method: 'PATCH',
    path: `${path}/set-visibility`,
    permission: 'resource_set_visibility',
    versions: ['v3.1'],
    summary: 'Widens who sees the blueprint',
    spec: 'v3.1-part1 Blueprints',
    body: z.object({ visibility: widerVisibility }),
    status: 200,
    response: blueprint,
    includeFields: blueprintFields,
  },
  {
    ...owned,
    id: 'setBlueprintGlobal',
    method: 'PATCH',
    path: `${path}/set-global`,
    isGoneFromOriginal: true,
    permission: 'resource_set_global',
    versions: ['v3.1'],
    summary: 'Makes the blueprint global (deprecated)',
    spec: 'v3.1-part1 Blueprints',
    status: 200,
    response: blueprint,
    includeFields: blueprintFields,
  },
  {
    ...owned,
    id: 'setBlueprintIcon',
    method: 'PATCH',
    path: `${path}/icon`,
    permission: 'blueprint_upload',
    versions: ['v3.1'],
    summary: 'Stores icon.png beside the blueprint; an empty body removes it',
    spec: 'reference 5.1',
    rawBody: 'archive',
    status: 200,
    response: blueprint,
    includeFields: blueprintFields,
  },
  {
    ...owned,
    id: 'getBlueprintIcon',
    method: 'GET',
    path: `${path}/icon`,
    permission: 'blueprint_get',
    versions: ['v3.1'],
    summary: 'The icon of the blueprint, a PNG image with its ETag; 404 where it has none',
    spec: 'Baton',
    status: 200,
    responseKind: 'stream',
  },
  {
    ...owned,
    id: 'summarizeBlueprints',
    method: 'GET',
    path: '/summary/blueprints',
    permission: 'blueprint_list',
    versions: ['v3.1'],
    summary: 'Counts of blueprints by a field',
    spec: 'v3.1-part2 Summaries',
    list: {
      ...blueprintList,
      fields: [],
      sorts: [],
      defaultSort: [],
      passedOver: ['_include', '_sort'],
    },
    status: 200,
    query: z.object({ _target_field: summaryField, _sub_field: summaryField.optional() }),
    response: envelope(jsonObject),
  },
]);
