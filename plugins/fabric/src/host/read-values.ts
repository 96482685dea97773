import { FatalError } from '@baton/plugin-sdk';

/** Values of an input, each with its name for errors. */
export class Values {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #where: string;

  /** @throws FatalError when `value` is no dictionary */
  constructor(value: unknown, where: string) {
    if (value !== undefined && value !== null && (typeof value !== 'object' || Array.isArray(value)))
      throw new FatalError(`${where}: expected a dictionary`);
    this.#values = (value ?? {}) as Record<string, unknown>;
    this.#where = where;
  }

  /** The first of the names that has a value. */
  text(...names: string[]): string | undefined {
    return this.#first(names, 'a text', (value) =>
      typeof value === 'string' ? value : typeof value === 'number' ? String(value) : null,
    );
  }

  /** @throws FatalError for anything but a number, also as text */
  number(...names: string[]): number | undefined {
    return this.#first(names, 'a number', (value) => {
      const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
      return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : null;
    });
  }

  flag(...names: string[]): boolean | undefined {
    return this.#first(names, 'true or false', (value) => {
      if (typeof value === 'boolean') return value;
      const text = typeof value === 'string' ? value.toLowerCase() : '';
      return text === 'true' || text === 'yes' ? true : text === 'false' || text === 'no' ? false : null;
    });
  }

  any(name: string): unknown {
    return Object.hasOwn(this.#values, name) ? (this.#values[name] ?? undefined) : undefined;
  }

  inside(name: string): Values {
    return new Values(this.any(name), `${this.#where}.${name}`);
  }

  #first<T>(names: readonly string[], expected: string, read: (value: unknown) => T | null): T | undefined {
    for (const name of names) {
      const value = this.any(name);
      if (value === undefined || value === '') continue;
      const known = read(value);
      if (known === null) throw new FatalError(`${this.#where}.${name}: expected ${expected}`);
      return known;
    }
    return undefined;
  }
}
