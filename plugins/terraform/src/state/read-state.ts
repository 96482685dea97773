import { FatalError } from '@baton/plugin-sdk';
import * as z from 'zod';

const STATE = z.object({
  version: z.number(),
  terraform_version: z.string().default(''),
  serial: z.number(),
  lineage: z.string(),
  outputs: z
    .record(z.string(), z.object({ value: z.any(), type: z.any(), sensitive: z.boolean().default(false) }))
    .default({}),
  resources: z
    .array(
      z
        .object({
          module: z.string().optional(),
          mode: z.string(),
          type: z.string(),
          name: z.string(),
          instances: z.array(
            z
              .object({
                index_key: z.union([z.string(), z.number()]).optional(),
                attributes: z.record(z.string(), z.any()).nullish(),
                sensitive_attributes: z.array(z.any()).nullish(),
              })
              .loose(),
          ),
        })
        .loose(),
    )
    .default([]),
});
export type State = z.output<typeof STATE>;
export type Resource = State['resources'][number];

/** Reads what `state pull` prints; null: there is no state. @throws FatalError for a state of another version */
export function readState(text: string): State | null {
  if (text.trim() === '') return null;
  const parsed = STATE.safeParse(JSON.parse(text));
  if (parsed.success) return parsed.data;
  throw new FatalError(
    `the state cannot be read: ${parsed.error.issues[0]?.path.join('.')} is not as expected`,
  );
}

export const MASKED = '********';

/** Puts masks over the attributes that the state names as sensitive. */
function withoutSensitive(resource: Resource): Resource {
  return {
    ...resource,
    instances: resource.instances.map((instance) => {
      const attributes = structuredClone(instance.attributes ?? {});
      for (const path of instance.sensitive_attributes ?? []) maskAt(attributes, path);
      const { sensitive_attributes: _names, private: _private, ...shown } = instance;
      return { ...shown, attributes };
    }),
  };
}

/** A path of a state: steps that get an attribute, or an index. */
const STEPS = z.array(z.object({ type: z.string(), value: z.any() }).loose());

function maskAt(attributes: Record<string, unknown>, path: unknown): void {
  const steps = STEPS.safeParse(path);
  if (!steps.success || steps.data.length === 0) {
    // An unknown form of path: nobody knows which one is meant.
    for (const name of Object.keys(attributes)) attributes[name] = MASKED;
    return;
  }
  const names = steps.data.map(({ value }) =>
    typeof value === 'object' && value !== null
      ? String((value as { value?: unknown }).value)
      : String(value),
  );
  let at: unknown = attributes;
  for (const name of names.slice(0, -1))
    at = typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[name] : null;
  const last = names.at(-1)!;
  if (typeof at === 'object' && at !== null && Object.hasOwn(at, last))
    (at as Record<string, unknown>)[last] = MASKED;
}

const indexed = (key: string | number | undefined): string =>
  key === undefined ? '' : `[${typeof key === 'number' ? key : JSON.stringify(key)}]`;

/** The address of a resource as terraform writes it, without the index of an instance. */
const addressOf = ({ module, mode, type, name }: Resource): string =>
  [...(module ? [module] : []), ...(mode === 'data' ? ['data'] : []), type, name].join('.');

/** Addresses of all managed instances. */
export const managedAddresses = (state: State | null): string[] =>
  (state?.resources ?? [])
    .filter(({ mode }) => mode === 'managed')
    .flatMap((resource) =>
      resource.instances.map(({ index_key: key }) => `${addressOf(resource)}${indexed(key)}`),
    );

/** Resources by name, as the original has them, and by address: two resources may have one name. */
export function resourcesOf(state: State | null): {
  byName: Record<string, Resource>;
  byAddress: Record<string, Resource>;
  /** Names that several resources have. */
  shared: string[];
} {
  const [byName, byAddress]: Record<string, Resource>[] = [{}, {}];
  const shared = new Set<string>();
  for (const resource of state?.resources ?? []) {
    const shown = withoutSensitive(resource);
    if (Object.hasOwn(byName!, resource.name)) shared.add(resource.name);
    else byName![resource.name] = shown;
    byAddress![addressOf(resource)] = shown;
  }
  return { byName: byName!, byAddress: byAddress!, shared: [...shared] };
}
