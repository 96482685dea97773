type Value = unknown;

/** An instance id: a name and six characters of a-z0-9. */
const ID = /^(.*)_([a-z0-9]{6})$/;

interface InstanceLike {
  id: string;
  node_id: string;
  name: string;
  relationships: { target_id: string; target_name: string; type: string }[];
  scaling_groups?: { id: string; name: string }[];
  host_id?: string;
  modification?: string;
}

/**
 * Returns signatures of instances that do not depend on their random suffixes. They start with the names, and are then refined by
 * the signatures of related instances, in both directions, until nothing changes. Ids for which `isFixed` returns true stay
 * unchanged.
 */
export function canonicalInstances(
  instances: readonly InstanceLike[],
  isFixed: (id: string) => boolean = () => false,
): { list: Value[]; colours: Map<string, string> } {
  const names = new Map(instances.map((i) => [i.id, i.node_id]));
  const start = (id: string): string => (isFixed(id) ? id : (names.get(id) ?? ID.exec(id)?.[1] ?? id));
  let colours = new Map<string, string>();
  for (const i of instances) {
    for (const id of [
      i.id,
      i.host_id ?? '',
      ...i.relationships.map((r) => r.target_id),
      ...(i.scaling_groups ?? []).map((g) => g.id),
    ])
      colours.set(id, start(id));
  }
  for (let round = 0; round < 6; round++) {
    const incoming = new Map<string, string[]>();
    const add = (id: string, text: string): void =>
      void (incoming.get(id) ?? incoming.set(id, []).get(id)!).push(text);
    for (const i of instances) {
      const own = `${colours.get(i.id)!}${i.modification ?? ''}`;
      for (const r of i.relationships) {
        add(r.target_id, `<${own}:${r.type}`);
        add(i.id, `>${colours.get(r.target_id)!}:${r.type}`);
      }
      for (const g of i.scaling_groups ?? []) {
        add(g.id, `m${own}`);
        add(i.id, `g${colours.get(g.id)!}`);
      }
      if (i.host_id) {
        add(i.host_id, `h${own}`);
        add(i.id, `H${colours.get(i.host_id)!}`);
      }
    }
    const next = new Map<string, string>();
    for (const [id, colour] of colours)
      next.set(id, hash(`${colour}|${(incoming.get(id) ?? []).sort().join(',')}`, start(id)));
    colours = next;
  }
  const list = instances
    .map((i) => renameIds(i, colours))
    .map((i) => {
      const c = i as InstanceLike;
      return {
        ...c,
        relationships: [...c.relationships].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
      };
    });
  return { list: list.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)), colours };
}

function hash(text: string, name: string): string {
  let h = 5381;
  for (let i = 0; i < text.length; i++) h = ((h * 33) ^ text.charCodeAt(i)) >>> 0;
  return `${name}#${h}`;
}

/** Returns a value with every id replaced by its signature. */
export function renameIds(value: Value, colours: ReadonlyMap<string, string>): Value {
  if (typeof value === 'string') return colours.get(value) ?? value;
  if (Array.isArray(value)) return value.map((v) => renameIds(v, colours));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, v]) => [key, renameIds(v, colours)]));
}

/**
 * Returns the relationship types of each instance, in order. The order of target instances is not significant; the order of
 * relationship types of one instance is.
 */
export function relationshipOrder(instances: readonly InstanceLike[]): Value[] {
  return instances
    .map((i) => ({ node: i.node_id, order: i.relationships.map((r) => `${r.type} ${r.target_name}`) }))
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
