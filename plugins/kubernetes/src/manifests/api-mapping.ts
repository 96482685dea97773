import { FatalError } from '@baton/plugin-sdk';
import * as z from 'zod';

const ENTRY = z.object({ api: z.string().optional(), method: z.string().optional() });
const MAPPING = z.object({ create: ENTRY.optional(), read: ENTRY.optional() });

/** Classes of the Python client, without their version, and the groups of the API that they are for. */
const GROUPS: Record<string, string> = {
  Core: '',
  Apps: 'apps',
  Batch: 'batch',
  Autoscaling: 'autoscaling',
  Networking: 'networking.k8s.io',
  Policy: 'policy',
  RbacAuthorization: 'rbac.authorization.k8s.io',
  Storage: 'storage.k8s.io',
  Scheduling: 'scheduling.k8s.io',
  Coordination: 'coordination.k8s.io',
  Apiextensions: 'apiextensions.k8s.io',
  Apiregistration: 'apiregistration.k8s.io',
  AdmissionRegistration: 'admissionregistration.k8s.io',
  Certificates: 'certificates.k8s.io',
  Discovery: 'discovery.k8s.io',
};
const CLASS = /^([A-Z][A-Za-z]*?)(V\d+(?:(?:alpha|beta)\d+)?)Api$/;
const METHOD = /^(?:create|read|replace|patch|delete)_(?:namespaced_)?([a-z0-9_]+)$/;

/**
 * The kind that an api_mapping means: names of classes and methods of the Python client, for instance CoreV1Api and
 * create_namespaced_pod. Null: there is no mapping.
 * @throws FatalError for names that follow no rule
 */
export function kindOfMapping(mapping: unknown): { apiVersion: string; kind: string } | null {
  const parsed = MAPPING.safeParse(mapping);
  const entry = parsed.data?.create?.method ? parsed.data.create : parsed.data?.read;
  if (!entry?.method || !entry.api) return null;
  const [, name, version] = CLASS.exec(entry.api) ?? [];
  const [, noun] = METHOD.exec(entry.method) ?? [];
  const group = name === undefined ? undefined : GROUPS[name];
  if (group === undefined || noun === undefined)
    throw new FatalError(
      `api_mapping: ${entry.api}.${entry.method} names no known kind: write apiVersion and kind into the definition, and leave ` +
        `api_mapping out; known classes: ${Object.keys(GROUPS).join(', ')} with V1Api behind`,
    );
  const kind = noun
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
  return { apiVersion: `${group === '' ? '' : `${group}/`}${version!.toLowerCase()}`, kind };
}
