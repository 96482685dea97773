import { FatalError, type Http, type HttpAnswer, type HttpOptions } from '@baton/plugin-sdk';
import type { Connection } from './connection';
import { type DiscoveredKind, Discovery, rootOf } from './discovery';
import { conflictError, refusal } from './kube-error';
import { dictOf, isDict, type KubeObject, listOf, type Reference, shownReference } from './kube-object';

export interface ApplyOptions {
  /** Takes fields over that belong to others. */
  isForced: boolean;
  isDryRun?: boolean;
}

export interface DeleteOptions {
  graceSeconds?: number;
  /** Foreground, Background or Orphan. */
  propagation?: string;
}

/** Names become parts of addresses: no dots at the begin, and no slashes. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9.:_-]{0,252}$/;

/** The API of a cluster, for objects of every kind that its discovery knows. */
export class KubeApi {
  readonly discovery: Discovery;
  readonly #http: Http;
  readonly #manager: string;

  /** `manager`: the name under which applied fields belong to the caller. */
  constructor(http: Http, connection: Connection, manager: string) {
    const { server, token, basic, tls, proxy } = connection;
    this.#http = http.with({
      baseUrl: server,
      tls,
      redirects: 0,
      ...(token === undefined ? {} : { auth: token }),
      ...(token === undefined && basic !== undefined ? { basic } : {}),
      ...(proxy === undefined ? {} : { proxy }),
    });
    this.#manager = manager;
    this.discovery = new Discovery(async (path) => {
      const answer = await this.#send('GET', path);
      if (answer.status === 404) return null;
      return this.#success(answer, `reading ${path}`).json();
    });
  }

  /** The object as it is now; null: there is none, or the cluster does not know its kind. */
  async get(reference: Reference): Promise<KubeObject | null> {
    if ((await this.discovery.find(reference.apiVersion, reference.kind)) === null) return null;
    const answer = await this.#send('GET', await this.#pathOf(reference));
    if (answer.status === 404) return null;
    return objectOf(this.#success(answer, `reading ${shownReference(reference)}`));
  }

  /** Objects of a kind in a namespace. */
  async list(
    apiVersion: string,
    kind: string,
    namespace: string,
    labels: Readonly<Record<string, string>>,
  ): Promise<KubeObject[]> {
    const type = await this.discovery.require(apiVersion, kind);
    const labelSelector = Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(',');
    const answer = await this.#send('GET', collectionOf(apiVersion, type, namespace), {
      query: { labelSelector, limit: 100 },
    });
    return listOf(dictOf(this.#success(answer, `listing ${kind}`).json()).items) as unknown as KubeObject[];
  }

  /**
   * Server-side apply.
   * @throws FatalError for fields that others own, and for what the cluster refuses
   * @throws RetryableError for failures that may pass
   */
  async apply(object: KubeObject, { isForced, isDryRun = false }: ApplyOptions): Promise<KubeObject> {
    const { apiVersion, kind, metadata } = object;
    const reference = { apiVersion, kind, name: metadata.name, namespace: metadata.namespace };
    const what = `applying ${shownReference(reference)}`;
    const answer = await this.#send('PATCH', await this.#pathOf(reference), {
      body: JSON.stringify(object),
      headers: { 'content-type': 'application/apply-patch+yaml' },
      query: {
        fieldManager: this.#manager,
        force: isForced,
        fieldValidation: 'Strict',
        ...(isDryRun ? { dryRun: 'All' } : {}),
      },
    });
    if (answer.status === 409 && answer.text.includes('FieldManagerConflict'))
      throw conflictError(what, answer.text);
    return objectOf(this.#success(answer, what));
  }

  /** Begins the removal; false: there was no such object or kind, or the name has another object. */
  async delete(reference: Reference, { graceSeconds, propagation }: DeleteOptions): Promise<boolean> {
    if ((await this.discovery.find(reference.apiVersion, reference.kind)) === null) return false;
    const answer = await this.#send('DELETE', await this.#pathOf(reference), {
      json: {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        ...(graceSeconds === undefined ? {} : { gracePeriodSeconds: graceSeconds }),
        ...(propagation === undefined ? {} : { propagationPolicy: propagation }),
        ...(reference.uid === undefined ? {} : { preconditions: { uid: reference.uid } }),
      },
    });
    // 409: the object with this uid is gone, another one has its name.
    if (answer.status === 404 || (answer.status === 409 && reference.uid !== undefined)) return false;
    this.#success(answer, `removing ${shownReference(reference)}`);
    return true;
  }

  /** Whether the fields of an object were applied under the name of this client. */
  isOwn({ metadata }: KubeObject): boolean {
    return (
      metadata.managedFields?.some(
        ({ manager, operation }) => manager === this.#manager && operation === 'Apply',
      ) === true
    );
  }

  async #pathOf({ apiVersion, kind, name, namespace }: Reference): Promise<string> {
    const type = await this.discovery.require(apiVersion, kind);
    if (typeof name !== 'string' || !NAME.test(name))
      throw new FatalError(
        `the name of the object of the kind ${kind} is ${shown(name)}: expected letters, digits, dots and hyphens in metadata.name`,
      );
    return `${collectionOf(apiVersion, type, namespace)}/${encodeURIComponent(name)}`;
  }

  async #send(method: string, path: string, options: HttpOptions = {}): Promise<HttpAnswer> {
    return await this.#http.request(method, path, options);
  }

  #success(answer: HttpAnswer, what: string): HttpAnswer {
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw refusal(what, answer.status, answer.text);
  }
}

function collectionOf(apiVersion: string, type: DiscoveredKind, namespace: string | undefined): string {
  if (!type.isNamespaced) return `${rootOf(apiVersion)}/${type.resource}`;
  if (typeof namespace !== 'string' || !NAME.test(namespace))
    throw new FatalError(
      `the namespace of the ${type.kind} is ${shown(namespace)}: expected the name of a namespace`,
    );
  return `${rootOf(apiVersion)}/namespaces/${encodeURIComponent(namespace)}/${type.resource}`;
}

function objectOf(answer: HttpAnswer): KubeObject {
  const value: unknown = answer.json();
  if (!isDict(value) || !isDict(value.metadata) || typeof value.metadata.name !== 'string')
    throw new FatalError('the cluster answered something that is no object of Kubernetes');
  return value as KubeObject;
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'missing').slice(0, 100);
