/** How the members of a list are told apart: by keys, by their values, or not at all (the list is one value). */
export type ListKind = readonly string[] | 'set' | 'atomic';

const BY_NAME = ['name'] as const;
const LISTS: Record<string, ListKind> = {
  containers: BY_NAME,
  initContainers: BY_NAME,
  ephemeralContainers: BY_NAME,
  env: BY_NAME,
  volumes: BY_NAME,
  imagePullSecrets: BY_NAME,
  secrets: BY_NAME,
  volumeMounts: ['mountPath'],
  volumeDevices: ['devicePath'],
  hostAliases: ['ip'],
  conditions: ['type'],
  ownerReferences: ['uid'],
  topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
  finalizers: 'set',
};

/** The kind of the list at a path of names; `[]` stands for a member of a list. */
export function listKind(at: readonly string[], isCustom: boolean): ListKind {
  const [name, parent, ancestor] = [at.at(-1)!, at.at(-2), at.at(-3)];
  if (at.length === 2 && parent === 'metadata') return LISTS[name] ?? 'atomic';
  if (isCustom) return 'atomic';
  if (name === 'ports' && parent === '[]' && /containers$/i.test(ancestor ?? ''))
    return ['containerPort', 'protocol'];
  if (name === 'ports' && parent === 'spec' && at.length === 2) return ['port', 'protocol'];
  return Object.hasOwn(LISTS, name) ? LISTS[name]! : 'atomic';
}

const DEFAULTS: Record<string, unknown> = { protocol: 'TCP' };

/** The values of the keys of a member, in the order of the keys. */
export const keysOf = (item: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(keys.map((key) => [key, item[key] ?? DEFAULTS[key]]));
