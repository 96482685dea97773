import type { ObjectSchema } from '../schema/describe';
import type { AnyNodeType } from './node-type';
import {
  DERIVED_OPERATIONS,
  type DerivedOperation,
  LIFECYCLE_OPERATIONS,
  type LifecycleOperation,
} from './node-type';

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
    ...Object.entries(type.operations ?? {}).map(([name, { interface: own = pluginName }]) => ({
      name,
      interface: own,
    })),
  ];
}

/** Without `read` nothing is derived; without `compare` and `drift` nothing can drift; without a way to make it again nothing can be healed. */
export function derivedOf(type: AnyNodeType): DerivedOperation[] {
  if (type.read === undefined) return [];
  const hasDrift = (type.compare ?? []).length > 0 || type.drift !== undefined;
  const canHeal = (type.create ?? type.start ?? type.update) !== undefined;
  return DERIVED_OPERATIONS.filter(
    (name) => (name !== 'check_drift' || hasDrift) && (name !== 'heal' || canHeal),
  );
}

/** The operations of a node type that have a mapping of their own; `mapping`: without the name of the plugin. */
export function ownMappings(type: AnyNodeType): { name: string; mapping: string }[] {
  return Object.entries(type.mappings ?? {}).flatMap(([name, whole]) =>
    whole === undefined ? [] : [{ name, mapping: withoutPlugin(whole) }],
  );
}

/** A mapping without the name of the plugin before it. */
export const withoutPlugin = (whole: string): string => whole.slice(whole.indexOf('.') + 1);

/** The mapping of an operation of a type. */
export const mappingOf = (typeName: string, operation: string): string => `${typeName}.${operation}`;

/** The schema of the inputs of an operation; undefined: they are not checked. */
export function inputsOf(type: AnyNodeType, name: string): ObjectSchema | undefined {
  const declared = Object.hasOwn(type.operations ?? {}, name) ? type.operations?.[name]?.inputs : undefined;
  return declared ?? type.inputs?.[name as LifecycleOperation];
}
