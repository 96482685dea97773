import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import type { InstanceContext, OperationLogger } from '../context';
import { FatalError } from '../errors';
import { runtimeSecretName } from '../tools/runtime-secret-name';
import type { Mask } from './mask';
import type { SecretStore } from './secret-store';
import { STEPS_PROPERTY } from './steps';

/** Shorter values stand in other texts by chance. */
const MIN_FOUND = 8;
/** Member of the JSON text that holds a value which is no text. */
const MEMBER = 'value';

interface Parts {
  /** Names of the sensitive runtime properties. */
  names: readonly string[];
  deployment: string;
  instance: InstanceContext;
  store: SecretStore;
  mask: Mask;
  log: OperationLogger;
}

/**
 * The sensitive runtime properties of an instance. The value of each is a secret of the tenant; the runtime property is
 * `{ get_secret: <name> }`; of a value that is no text `{ get_secret: [<name>, value] }` (docs/adr/0041). The secret is written before the reference, and removed after it: a crash in between leaves
 * a secret without a reference, which the next attempt writes again, or the end of `delete` removes. Names do not depend on the attempt.
 */
export class SensitiveRuntime {
  /** Values as the operation sees them. */
  readonly #values = new Map<string, Json>();
  /** What `save` has not written yet; undefined: to be removed. */
  readonly #changed = new Map<string, Json | undefined>();
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Reads the values. One whose secret is gone is undefined; the log says so. */
  async load(): Promise<void> {
    const { names, instance, store, mask, log } = this.#parts;
    for (const name of names) {
      const stored = instance.runtimeProperties[name];
      if (stored === undefined || stored === null || stored === '') continue;
      const reference = referenceOf(stored);
      const text = reference === null ? undefined : await store.read(reference.secret);
      if (reference !== null && text === undefined) {
        log.warning(`The secret ${reference.secret} of the runtime property ${name} does not exist any more`);
        continue;
      }
      const value = reference === null ? stored : reference.valueOf(text!);
      mask.add(value);
      this.#values.set(name, value);
      // Stored in clear, by an older version of the plugin for instance.
      if (reference === null) this.#changed.set(name, value);
    }
  }

  owns(name: PropertyKey): name is string {
    return typeof name === 'string' && this.#parts.names.includes(name);
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  get(name: string): Json | undefined {
    return this.#values.get(name);
  }

  /** Properties that have a value. */
  names(): string[] {
    return [...this.#values.keys()];
  }

  /** Undefined and null remove the value. Written by `save`. */
  set(name: string, value: unknown): void {
    const text = JSON.stringify(value ?? null) as string | undefined;
    if (text === undefined) throw new FatalError(`runtime.${name} is no JSON value`);
    const plain = JSON.parse(text) as Json;
    if (plain === null) return this.remove(name);
    this.#parts.mask.add(plain);
    if (JSON.stringify(this.#values.get(name)) === JSON.stringify(plain)) return;
    this.#values.set(name, plain);
    this.#changed.set(name, plain);
  }

  remove(name: string): void {
    this.#values.delete(name);
    this.#changed.set(name, undefined);
  }

  /**
   * Writes changed values and their references. Runs before runtime properties are stored. `result`: of a step, stored with them.
   * @throws FatalError when a copy of a value would be stored in clear; FatalError, RetryableError of the store
   */
  async save(result?: Json): Promise<void> {
    const { instance, store } = this.#parts;
    const removed: string[] = [];
    for (const [name, value] of [...this.#changed]) {
      if (value === undefined) removed.push(name);
      else if (value === '') instance.runtimeProperties[name] = '';
      else {
        const secret = this.#nameOf(name);
        const isText = typeof value === 'string';
        await store.write(secret, isText ? value : JSON.stringify({ [MEMBER]: value }));
        // The language reads a text, or a member of JSON.
        instance.runtimeProperties[name] = { get_secret: isText ? secret : [secret, MEMBER] };
      }
      if (this.#changed.get(name) === value) this.#changed.delete(name);
    }
    this.#requireHidden(result);
    await this.#drop(removed);
  }

  /** Removes all values, also what an attempt that died may have left. */
  async clear(): Promise<void> {
    const { names } = this.#parts;
    for (const name of names) this.#values.delete(name);
    this.#changed.clear();
    await this.#drop(names);
  }

  /** References go first: one without its secret would be an error for everybody who reads it. */
  async #drop(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    const { instance, store } = this.#parts;
    for (const name of names) delete instance.runtimeProperties[name];
    await instance.update();
    for (const name of names) await store.remove(this.#nameOf(name));
  }

  #nameOf(property: string): string {
    const { deployment, instance } = this.#parts;
    return runtimeSecretName(deployment, instance.id, property);
  }

  /** A copy of a value beside its reference would be stored in clear. @throws FatalError that names the place */
  #requireHidden(result: Json | undefined): void {
    const { runtimeProperties } = this.#parts.instance;
    const stored =
      result === undefined ? runtimeProperties : { ...runtimeProperties, [STEPS_PROPERTY]: result };
    for (const [property, value] of this.#values) {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      if (text.length < MIN_FOUND) continue;
      for (const [name, other] of Object.entries(stored))
        if (holds(other, text))
          throw new FatalError(
            name === STEPS_PROPERTY
              ? `the result of a step holds the value of runtime.${property}, which is sensitive, and would be stored in clear: set ` +
                  `runtime.${property} in the work of the step, and return something else`
              : `runtime.${name} holds the value of runtime.${property}, which is sensitive, and would be stored in clear`,
          );
    }
  }
}

/** The secret of a reference, and how its text becomes the value; null: the value is no reference. */
function referenceOf(value: Json): { secret: string; valueOf(text: string): Json } | null {
  if (!isJsonObject(value) || Object.keys(value).length !== 1) return null;
  const { get_secret: asked } = value;
  if (typeof asked === 'string') return { secret: asked, valueOf: (text) => text };
  if (!Array.isArray(asked) || asked.length !== 2 || asked[1] !== MEMBER || typeof asked[0] !== 'string')
    return null;
  const [secret] = asked;
  return { secret, valueOf: (text) => memberOf(text, secret) };
}

function memberOf(text: string, secret: string): Json {
  try {
    return (JSON.parse(text) as JsonObject)[MEMBER] ?? null;
  } catch {
    throw new FatalError(`the secret ${secret} does not hold what the plugin has put there`);
  }
}

function holds(value: Json | undefined, text: string): boolean {
  if (typeof value === 'string') return value.includes(text);
  if (typeof value !== 'object' || value === null) return false;
  return JSON.stringify(value) === text || Object.values(value).some((inner) => holds(inner, text));
}
