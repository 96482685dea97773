import { nodeType } from '@baton/plugin-sdk';
import * as z from 'zod';
import { blueprintDefined } from '../manifests/definition';
import { FILE_RESOURCE, fileDefined } from '../manifests/files';
import { resourceOperations } from '../resources/resource-operations';
import { RESOURCE_BASE, RESOURCE_RUNTIME, type ResourceScope } from '../resources/scope';

const NEW = 'cloudify.nodes.kubernetes.resources';
const OLD = 'cloudify.kubernetes.resources';

const isChecked = (byDefault: boolean) =>
  z.boolean().default(byDefault).describe('Wait until the objects are ready, by the rules of their kinds');

export const resourceBase = nodeType({
  description: 'What all resources have',
  aliases: [`${OLD}.ResourceBase`],
  properties: z.object(RESOURCE_BASE),
});

export const resourceWithValidateStatus = nodeType({
  description: 'A resource whose status may be awaited',
  derivedFrom: `${OLD}.ResourceBase`,
  aliases: [`${OLD}.ResourceWithValidateStatus`],
  properties: z.object({ ...RESOURCE_BASE, validate_resource_status: isChecked(false) }),
});

/** Parts of a definition that the type of a node names; others are passed as they are. */
const definitionOf = (parts: Record<string, z.ZodType>) =>
  z.looseObject({
    apiVersion: z.string().default('v1').describe('For instance apps/v1'),
    kind: z.string().optional(),
    metadata: z.any().default({}),
    ...parts,
  });
const SPEC = { spec: z.any().default({}) };

const blueprint = resourceOperations(blueprintDefined);
const tasks = (prefix: string) => ({
  create: `kubernetes.cloudify_kubernetes.tasks.${prefix}_create`,
  poststart: `kubernetes.cloudify_kubernetes.tasks.${prefix}_read`,
  update: `kubernetes.cloudify_kubernetes.tasks.${prefix}_update`,
  delete: `kubernetes.cloudify_kubernetes.tasks.${prefix}_delete`,
});
const RESUMABLE = ['create', 'poststart', 'update', 'delete'] as const;

export const blueprintDefinedResource = nodeType({
  description: 'An object whose definition stands in the blueprint',
  derivedFrom: `${OLD}.ResourceWithValidateStatus`,
  aliases: [`${OLD}.BlueprintDefinedResource`],
  properties: z.object({
    ...RESOURCE_BASE,
    validate_resource_status: isChecked(false),
    definition: definitionOf(SPEC).prefault({}),
  }),
  runtime: RESOURCE_RUNTIME,
  mappings: {
    ...tasks('resource'),
    check_status: 'kubernetes.cloudify_kubernetes.tasks.resource_read_check_status',
    check_drift: 'kubernetes.cloudify_kubernetes.tasks.resource_read_check_drift',
  },
  create: blueprint.create,
  poststart: blueprint.poststart,
  update: blueprint.update,
  delete: blueprint.delete,
  read: blueprint.read,
  drift: blueprint.drift,
  resumable: RESUMABLE,
});

/** A type that only declares its properties; its operations are those of its parent. */
const ofBlueprint = (
  name: string,
  parts: Record<string, z.ZodType>,
  checked?: boolean,
  parent = 'BlueprintDefinedResource',
) =>
  nodeType({
    description: `An object of the kind ${name}`,
    derivedFrom: `${OLD}.${parent}`,
    aliases: [`${OLD}.${name}`],
    properties: z.object({
      ...(checked === undefined ? {} : { validate_resource_status: isChecked(checked) }),
      definition: definitionOf(parts).prefault({}),
    }),
  });

const any = (byDefault: unknown) => z.any().default(byDefault);
const BINDING = { roleRef: any({}), subjects: any([]) };
const ROLE = { rules: any([]) };
const UNDECLARED = { spec: z.any().optional() };

/** Types with the name of a kind: the parts of their definition, and whether their status is awaited by default. */
const KINDS: Record<string, [parts: Record<string, z.ZodType>, checked?: boolean, parent?: string]> = {
  ClusterRoleBinding: [BINDING],
  RoleBinding: [BINDING],
  Role: [ROLE],
  ClusterRole: [ROLE, undefined, 'Role'],
  Secret: [{ type: z.string().optional(), data: any({}), stringData: any({}) }],
  ServiceAccount: [
    { automountServiceAccountToken: z.boolean().default(false), imagePullSecrets: any([]), secrets: any([]) },
  ],
  ConfigMap: [{ ...SPEC, data: any({}) }],
  StorageClass: [{ parameters: z.any().optional(), provisioner: z.any().optional() }],
  Deployment: [SPEC, true],
  Pod: [SPEC, true],
  ReplicaSet: [SPEC, true],
  ReplicationController: [SPEC, true],
  Service: [SPEC, true],
  PersistentVolume: [SPEC, true],
  PersistentVolumeClaim: [UNDECLARED, true],
  Node: [SPEC],
  Namespace: [SPEC],
  DaemonSet: [SPEC],
  CustomResourceDefinition: [SPEC],
  StatefulSet: [UNDECLARED],
  PodSecurityPolicy: [UNDECLARED],
  NetworkPolicy: [UNDECLARED],
  Ingress: [UNDECLARED],
};

export const kindTypes = Object.fromEntries(
  Object.entries(KINDS).map(([name, [parts, checked, parent]]) => [
    `${NEW}.${name}`,
    ofBlueprint(name, parts, checked, parent),
  ]),
);

export const customObject = nodeType({
  description: 'An object of a kind that the cluster defines itself',
  derivedFrom: `${OLD}.BlueprintDefinedResource`,
  aliases: [`${OLD}.CustomObject`],
  properties: z.object({
    options: z
      .object({
        namespace: z.string().default('default'),
        group: z.string().describe('Group of the API'),
        plural: z.string().describe('Plural name of the resource'),
        version: z.string().describe('Version of the API'),
      })
      .optional(),
  }),
});

const ENTRY = z.object({
  api: z.string().optional(),
  method: z.string().optional(),
  payload: z.string().optional(),
});
const MAPPING_OPERATIONS = ['create', 'read', 'update', 'delete'] as const;

export const customBlueprintDefinedResource = nodeType({
  description: 'An object whose kind is named by the Python client',
  derivedFrom: `${OLD}.BlueprintDefinedResource`,
  aliases: [`${OLD}.CustomBlueprintDefinedResource`],
  properties: z.object({
    ...RESOURCE_BASE,
    validate_resource_status: isChecked(false),
    definition: definitionOf(SPEC).prefault({}),
    api_mapping: z
      .object(Object.fromEntries(MAPPING_OPERATIONS.map((name) => [name, ENTRY.optional()])))
      .optional()
      .describe('Names of the Python client; only those of create and read say the kind'),
  }),
  runtime: RESOURCE_RUNTIME,
  mappings: {
    ...tasks('resource'),
    create: 'kubernetes.cloudify_kubernetes.tasks.custom_resource_create',
    delete: 'kubernetes.cloudify_kubernetes.tasks.custom_resource_delete',
    check_status: 'kubernetes.cloudify_kubernetes.tasks.custom_check_status',
    check_drift: 'kubernetes.cloudify_kubernetes.tasks.custom_check_drift',
  },
  create: blueprint.create,
  poststart: blueprint.poststart,
  update: blueprint.update,
  delete: blueprint.delete,
  read: blueprint.read,
  drift: blueprint.drift,
  resumable: RESUMABLE,
});

type FileScope = ResourceScope & { readonly properties: { file?: unknown; files?: unknown } };

const oneFile = resourceOperations<FileScope>((scope) =>
  fileDefined(scope, [scope.inputs.file ?? scope.properties.file], 'properties.file'),
);
const someFiles = resourceOperations<FileScope>((scope) => {
  const files = scope.inputs.files ?? scope.properties.files;
  return fileDefined(scope, Array.isArray(files) ? files : [], 'properties.files');
});

export const fileDefinedResource = nodeType({
  description: 'The objects of a file of the blueprint',
  derivedFrom: `${OLD}.ResourceWithValidateStatus`,
  aliases: [`${OLD}.FileDefinedResource`],
  properties: z.object({
    ...RESOURCE_BASE,
    allow_node_redefinition: z
      .boolean()
      .default(false)
      .describe('Objects may disappear from the file with an update'),
    validate_resource_status: isChecked(true),
    file: FILE_RESOURCE.optional(),
  }),
  runtime: RESOURCE_RUNTIME,
  mappings: {
    ...tasks('file_resource'),
    check_status: 'kubernetes.cloudify_kubernetes.tasks.file_resource_check_status',
    check_drift: 'kubernetes.cloudify_kubernetes.tasks.file_resource_check_drift',
  },
  create: oneFile.create,
  poststart: oneFile.poststart,
  update: oneFile.update,
  delete: oneFile.delete,
  read: oneFile.read,
  drift: oneFile.drift,
  resumable: RESUMABLE,
});

export const multipleFileDefinedResources = nodeType({
  description: 'The objects of several files of the blueprint',
  derivedFrom: `${OLD}.ResourceWithValidateStatus`,
  aliases: [`${OLD}.MultipleFileDefinedResources`],
  properties: z.object({
    ...RESOURCE_BASE,
    allow_node_redefinition: z
      .boolean()
      .default(false)
      .describe('Objects may disappear from the files with an update'),
    validate_resource_status: isChecked(false),
    files: z.any().optional().describe('A list of files, each with resource_path and template_variables'),
  }),
  runtime: RESOURCE_RUNTIME,
  mappings: {
    ...tasks('multiple_file_resource'),
    check_status: 'kubernetes.cloudify_kubernetes.tasks.multiple_file_resource_check_status',
    check_drift: 'kubernetes.cloudify_kubernetes.tasks.multiple_file_resource_check_drift',
  },
  create: someFiles.create,
  poststart: someFiles.poststart,
  update: someFiles.update,
  delete: someFiles.delete,
  read: someFiles.read,
  drift: someFiles.drift,
  resumable: RESUMABLE,
});
