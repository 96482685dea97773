/** The scalable parts of a deployment, and the effect of a requested number of instances. */
import { t } from '../text/text';

export interface Scalable {
  name: string;
  kind: 'group' | 'node';
  /** Current number of instances. */
  now: number;
  least: number;
  /** Maximum; null: unlimited. */
  most: number | null;
  /** Only for groups. */
  members: readonly string[];
  /** The node is contained in a host, which can be scaled instead. */
  isContained: boolean;
}

interface Group {
  members?: readonly string[];
  properties?: { current_instances?: unknown; min_instances?: unknown; max_instances?: unknown };
}

interface Node {
  id: string;
  host_id: string | null;
  number_of_instances: number;
  min_number_of_instances: number;
  max_number_of_instances: number;
}

/** The plan uses -1 for "unlimited". */
const boundOf = (most: number): number | null => (most < 0 ? null : most);

/**
 * Returns scaling groups before nodes: an author who defines a group intends it for scaling. Names of groups and nodes are
 * distinct within a blueprint.
 */
export function scalablesOf(groups: Readonly<Record<string, unknown>>, nodes: readonly Node[]): Scalable[] {
  const ofGroups = Object.entries(groups).map(([name, of]): Scalable => {
    const { members = [], properties = {} } = of as Group;
    return {
      name,
      kind: 'group',
      now: numberOf(properties.current_instances, 1),
      least: numberOf(properties.min_instances, 0),
      most: boundOf(numberOf(properties.max_instances, -1)),
      members,
      isContained: false,
    };
  });
  const ofNodes = nodes.map(
    (node): Scalable => ({
      name: node.id,
      kind: 'node',
      now: node.number_of_instances,
      least: node.min_number_of_instances,
      most: boundOf(node.max_number_of_instances),
      members: [],
      isContained: node.host_id !== null && node.host_id !== node.id,
    }),
  );
  return [...ofGroups, ...ofNodes];
}

const numberOf = (value: unknown, otherwise: number): number =>
  typeof value === 'number' ? value : otherwise;

export interface Wish {
  /** Parameter of the workflow; null: the text is not a number. */
  delta: number | null;
  error: string | null;
  /** Text that describes the effect. */
  words: string;
  isOutOfBounds: boolean;
}

/** Interprets the typed number of instances for a scalable. */
export function wishOf(text: string, { now, least, most }: Scalable): Wish {
  if (!/^\s*\d{1,6}\s*$/.test(text))
    return { delta: null, error: t.scale.whole, words: '', isOutOfBounds: false };
  const wanted = Number(text);
  const delta = wanted - now;
  const words = delta === 0 ? t.scale.same : delta > 0 ? t.scale.more(delta) : t.scale.fewer(-delta);
  return { delta, error: null, words, isOutOfBounds: wanted < least || (most !== null && wanted > most) };
}
