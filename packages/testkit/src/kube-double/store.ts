import { systemClock } from '@baton/kernel';
import { ApiError } from './api-error';
import type { KubeObject } from './object';
import { isSame } from './object';
import { Resources, type ResourceType } from './resources';

export interface StoredEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  version: number;
  group: string;
  resource: string;
  object: KubeObject;
  /** As it was before; undefined: it is new. */
  before?: KubeObject;
}

/** Events that a watch can begin behind; older ones are answered with 410. */
const KEPT_EVENTS = 5_000;

/** All objects of the cluster, and what happened to them. */
export class Store {
  readonly resources = new Resources();
  readonly #objects = new Map<string, KubeObject>();
  readonly #listeners = new Set<(event: StoredEvent) => void>();
  #events: StoredEvent[] = [];
  #version = 1;

  get version(): number {
    return this.#version;
  }

  now(): string {
    return new Date(systemClock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  }

  get(type: Kind, namespace: string | undefined, name: string): KubeObject | undefined {
    const found = this.#objects.get(keyOf(type, namespace, name));
    return found === undefined ? undefined : structuredClone(found);
  }

  list(type: Kind, namespace?: string): KubeObject[] {
    const prefix = `${type.group}/${type.resource}/`;
    return [...this.#objects.entries()]
      .filter(([key]) => key.startsWith(namespace === undefined ? prefix : `${prefix}${namespace}/`))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, object]) => structuredClone(object));
  }

  /** Every object with its resource; a resource with several versions counts once. */
  everything(): { type: ResourceType; object: KubeObject }[] {
    const types = new Map(this.resources.all().map((type) => [`${type.group}/${type.resource}`, type]));
    return [...types.values()].flatMap((type) => this.list(type).map((object) => ({ type, object })));
  }

  /** Stores an object unless it is stored like that already. Its version is set here. */
  put(type: Kind, object: KubeObject): KubeObject {
    const key = keyOf(type, object.metadata.namespace, object.metadata.name);
    const before = this.#objects.get(key);
    if (before !== undefined && isSame(unversioned(before), unversioned(object)))
      return structuredClone(before);
    const stored = structuredClone(object);
    stored.metadata.resourceVersion = String(++this.#version);
    this.#objects.set(key, stored);
    this.#tell({ type: before === undefined ? 'ADDED' : 'MODIFIED', ...place(type), object: stored, before });
    return structuredClone(stored);
  }

  remove(type: Kind, object: KubeObject): void {
    const key = keyOf(type, object.metadata.namespace, object.metadata.name);
    const before = this.#objects.get(key);
    if (before === undefined) return;
    this.#objects.delete(key);
    const last = structuredClone(before);
    last.metadata.resourceVersion = String(++this.#version);
    this.#tell({ type: 'DELETED', ...place(type), object: last, before });
  }

  /** Events after a version. @throws ApiError 410 when they are not kept any more */
  eventsAfter(version: number): StoredEvent[] {
    const oldest = this.#events[0]?.version ?? this.#version + 1;
    if (this.#events.length === KEPT_EVENTS && version < oldest - 1)
      throw new ApiError(410, 'Expired', `too old resource version: ${version} (${oldest})`);
    return this.#events.filter((event) => event.version > version);
  }

  listen(listener: (event: StoredEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #tell(event: Omit<StoredEvent, 'version'>): void {
    const whole = { ...event, version: this.#version };
    this.#events.push(whole);
    if (this.#events.length > KEPT_EVENTS) this.#events.shift();
    if (event.resource === 'customresourcedefinitions')
      this.resources.setDefinitions(
        this.list({ group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' }),
      );
    for (const listener of [...this.#listeners]) listener(whole);
  }
}

type Kind = Pick<ResourceType, 'group' | 'resource'>;

const place = ({ group, resource }: Kind): Kind => ({ group, resource });

const keyOf = ({ group, resource }: Kind, namespace: string | undefined, name: string): string =>
  `${group}/${resource}/${namespace ?? ''}/${name}`;

const unversioned = (object: KubeObject): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion: '' },
});
