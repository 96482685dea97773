import { DefinitionError } from '../schema/definition-error';
import { checkNodeType } from './check-node-type';
import {
  MAX_NAME,
  NAME,
  requireFunction,
  requireMapping,
  requireName,
  requireTypeName,
  schemaOf,
  shown,
  unknownName,
} from './check-parts';
import { checkRelationshipType } from './check-relationship';
import type { PluginDefinition } from './definition';

const VERSION = /^\d+\.\d+\.\d+(?:[-+][A-Za-z0-9_.+-]{1,64})?$/;
const WORKFLOW_KEYS = new Set(['run', 'parameters', 'mapping', 'isResumable', 'availableWhen']);

/** @throws DefinitionError at the first mistake: what, where (dotted path), what was expected */
export function checkDefinition(plugin: PluginDefinition): void {
  const path = ['plugin'];
  if (!NAME.test(plugin.name) || plugin.name.length > MAX_NAME)
    throw new DefinitionError(
      [...path, 'name'],
      shown(plugin.name),
      `at most ${MAX_NAME} letters, digits, _ and -`,
    );
  if (typeof plugin.version !== 'string' || !VERSION.test(plugin.version) || plugin.version.length > MAX_NAME)
    throw new DefinitionError([...path, 'version'], shown(plugin.version), 'a version such as 1.2.0');
  for (const alias of plugin.aliases ?? []) requireName(alias, [...path, 'aliases']);
  for (const secret of plugin.secrets ?? [])
    if (typeof secret !== 'string' || secret === '')
      throw new DefinitionError([...path, 'secrets'], shown(secret), 'names of secrets');
  checkTypes(plugin, path);
  for (const [mapping, operation] of Object.entries(plugin.operations ?? {})) {
    if (typeof operation === 'function') continue;
    const at = [...path, 'operations', mapping];
    requireFunction(operation?.run, [...at, 'run']);
    schemaOf(operation.inputs, [...at, 'inputs']);
  }
  for (const [name, workflow] of Object.entries(plugin.workflows ?? {})) {
    const at = [...path, 'workflows', name];
    requireName(name, at);
    requireFunction(workflow.run, [...at, 'run']);
    for (const key of Object.keys(workflow))
      if (!WORKFLOW_KEYS.has(key)) throw unknownName([...at, key], key, WORKFLOW_KEYS);
    schemaOf(workflow.parameters, [...at, 'parameters']);
    if (workflow.mapping !== undefined) requireMapping(plugin, workflow.mapping, [...at, 'mapping']);
  }
}

function checkTypes(plugin: PluginDefinition, path: readonly string[]): void {
  const names = new Set<string>();
  const claim = (name: string, at: readonly string[]): void => {
    // Old types have names without a dot: as an alias such a name goes on.
    if (at.at(-1) !== 'aliases' || !NAME.test(name)) requireTypeName(name, at);
    if (names.has(name)) throw new DefinitionError(at, `the type ${name} is declared twice`, 'another name');
    names.add(name);
  };
  for (const [name, type] of Object.entries(plugin.types)) {
    const at = [...path, 'types', name];
    claim(name, at);
    for (const alias of type.aliases ?? []) claim(alias, [...at, 'aliases']);
    checkNodeType(plugin, type, at);
  }
  for (const [name, type] of Object.entries(plugin.relationships ?? {})) {
    const at = [...path, 'relationships', name];
    claim(name, at);
    for (const alias of type.aliases ?? []) claim(alias, [...at, 'aliases']);
    checkRelationshipType(plugin, type, at);
  }
}
