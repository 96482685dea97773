import type { AnyNodeType } from './node-type';
import { LIFECYCLE_OPERATIONS } from './node-type';

/** Operations that follow from `read`, in their interfaces. */
export const DERIVED_OPERATIONS = ['check_status', 'check_drift', 'heal', 'pull'] as const;
export type DerivedOperation = (typeof DERIVED_OPERATIONS)[number];

const LIFECYCLE = 'cloudify.interfaces.lifecycle';
const VALIDATION = 'cloudify.interfaces.validation';

/** An operation of a node type that exists: its name, and its interface in blueprints. */
export interface NamedOperation {
  name: string;
  interface: string;
}

/** The operations of a node type: those its author wrote, and those derived from them. */
export function operationsOf(type: AnyNodeType, pluginName: string): NamedOperation[] {
  const lifecycle = [...LIFECYCLE_OPERATIONS, 'update' as const].filter((name) => type[name] !== undefined);
  return [
    ...lifecycle.map((name) => ({ name, interface: LIFECYCLE })),
    ...derivedOf(type).map((name) => ({ name, interface: name === 'check_status' ? VALIDATION : LIFECYCLE })),
    ...Object.keys(type.operations ?? {}).map((name) => ({ name, interface: pluginName })),
  ];
}

/** Without `read` nothing is derived; without `compare` nothing can drift; without `create` nothing can be healed. */
export function derivedOf(type: AnyNodeType): DerivedOperation[] {
  if (type.read === undefined) return [];
  const hasDrift = (type.compare ?? []).length > 0;
  const canHeal = type.create !== undefined;
  return DERIVED_OPERATIONS.filter(
    (name) => (name !== 'check_drift' || hasDrift) && (name !== 'heal' || canHeal),
  );
}

/** The mapping of an operation of a type. */
export const mappingOf = (typeName: string, operation: string): string => `${typeName}.${operation}`;
