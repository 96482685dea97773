import type { ObjectSchema } from '../schema/describe';
import type { AnyNodeType } from './node-type';
import { LIFECYCLE_OPERATIONS, type LifecycleOperation } from './node-type';

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
    ...Object.entries(type.operations ?? {}).flatMap(([name, further]) =>
      [{ interface: further.interface ?? pluginName }, ...(further.places ?? [])].map((place) => ({
        name,
        interface: place.interface,
      })),
    ),
  ];
}

/** Without `read` there is no status; without `compare` or `drift` nothing can drift. */
export function derivedOf(type: AnyNodeType): DerivedOperation[] {
  const canDrift = (type.compare ?? []).length > 0 || type.drift !== undefined;
  const canMake = [type.create, type.configure, type.start, type.update].some((work) => work !== undefined);
  const has = {
    check_status: type.read !== undefined,
    check_drift: canDrift,
    heal: canMake && (type.read !== undefined || canDrift),
    pull: type.read !== undefined,
  };
  return DERIVED_OPERATIONS.filter((name) => has[name]);
}

/** The operations of a node type that have a mapping of their own; `mapping`: without the name of the plugin. */
export function ownMappings(type: AnyNodeType, pluginName: string): { name: string; mapping: string }[] {
  return operationsOf(type, pluginName).flatMap(({ name }) => {
    const whole = type.mappings?.[name];
    return whole === undefined ? [] : [{ name, mapping: withoutPlugin(whole) }];
  });
}

/** A mapping as a plugin knows it: without the name of the plugin. */
export const withoutPlugin = (mapping: string): string => mapping.slice(mapping.indexOf('.') + 1);

/** The mapping of an operation of a type. */
export const mappingOf = (typeName: string, operation: string): string => `${typeName}.${operation}`;

/** The schema of the inputs of an operation; undefined: they are not checked. */
export function inputsOf(type: AnyNodeType, name: string): ObjectSchema | undefined {
  const declared = Object.hasOwn(type.operations ?? {}, name) ? type.operations?.[name]?.inputs : undefined;
  return declared ?? type.inputs?.[name as LifecycleOperation];
}

/** What runs for an operation: the same function, or the same derived operation, is the same work. */
export const workOf = (type: AnyNodeType, name: string): unknown =>
  Object.hasOwn(type.operations ?? {}, name)
    ? type.operations?.[name]?.run
    : (type[name as LifecycleOperation] ?? name);
