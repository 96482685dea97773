import { FatalError, RetryableError } from '@baton/plugin-sdk';
import * as z from 'zod';

const RESOURCES = z.object({
  resources: z.array(
    z.object({
      name: z.string(),
      kind: z.string(),
      namespaced: z.boolean(),
      verbs: z.array(z.string()).default([]),
    }),
  ),
});

/** What the cluster says of a kind. */
export interface DiscoveredKind {
  /** Plural name, as in addresses. */
  resource: string;
  kind: string;
  isNamespaced: boolean;
}

/** Reads a document of the API; null: there is none. */
type ReadDocument = (path: string) => Promise<unknown>;

/** The kinds of the cluster, read when they are asked for. */
export class Discovery {
  readonly #read: ReadDocument;
  readonly #known = new Map<string, DiscoveredKind[]>();

  constructor(read: ReadDocument) {
    this.#read = read;
  }

  /** Forgets what was read: a definition has added kinds. */
  forget(): void {
    this.#known.clear();
  }

  /** What the cluster says of a kind; null: it does not know it. */
  async find(apiVersion: string, kind: string): Promise<DiscoveredKind | null> {
    return (await this.#kindsOf(apiVersion)).find((one) => one.kind === kind) ?? null;
  }

  /**
   * Like find.
   * @throws FatalError for a kind that the version does not have, with the nearest names
   * @throws RetryableError when the group may come later: it belongs to no part of Kubernetes itself
   */
  async require(apiVersion: string, kind: string): Promise<DiscoveredKind> {
    const found = await this.find(apiVersion, kind);
    if (found !== null) return found;
    throw unknownKind(apiVersion, kind, await this.#kindsOf(apiVersion));
  }

  /** Finds a kind by its plural name. @throws like require */
  async requireResource(apiVersion: string, plural: string): Promise<DiscoveredKind> {
    const kinds = await this.#kindsOf(apiVersion);
    const found = kinds.find((one) => one.resource === plural);
    if (found !== undefined) return found;
    throw unknownKind(apiVersion, plural, kinds);
  }

  async #kindsOf(apiVersion: string): Promise<DiscoveredKind[]> {
    const known = this.#known.get(apiVersion);
    if (known !== undefined) return known;
    const document = await this.#read(rootOf(apiVersion));
    const parsed = RESOURCES.safeParse(document);
    if (document !== null && !parsed.success)
      throw new FatalError(
        `the cluster's list of the kinds of ${apiVersion} cannot be read: is this the API of Kubernetes?`,
      );
    const kinds = (parsed.data?.resources ?? [])
      .filter(({ name }) => !name.includes('/'))
      .map(({ name, kind, namespaced }) => ({ resource: name, kind, isNamespaced: namespaced }));
    this.#known.set(apiVersion, kinds);
    return kinds;
  }
}

const API_VERSION = /^([a-z0-9]([a-z0-9.-]*[a-z0-9])?\/)?v[a-z0-9]+$/;

/** The path of a version of the API: `/api/v1`, `/apis/apps/v1`. @throws FatalError for another form */
export function rootOf(apiVersion: string): string {
  if (!API_VERSION.test(apiVersion))
    throw new FatalError(
      `apiVersion is ${JSON.stringify(apiVersion).slice(0, 100)}: expected a form such as v1 or apps/v1`,
    );
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

function unknownKind(apiVersion: string, name: string, kinds: readonly DiscoveredKind[]): Error {
  const names = kinds.map(({ kind }) => kind);
  const near = names.filter((one) => one.toLowerCase().slice(0, 3) === name.toLowerCase().slice(0, 3));
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0]! : '';
  const isOwn = group === '' || !group.includes('.') || group.endsWith('.k8s.io');
  const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : '';
  const message =
    kinds.length === 0
      ? `the cluster has no API ${apiVersion}`
      : `the cluster has no kind ${name} in ${apiVersion}${hint}`;
  if (isOwn) return new FatalError(message);
  return new RetryableError(`${message}: its CustomResourceDefinition may not be established yet`);
}
