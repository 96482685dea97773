import type { PluginOperation } from '../context';
import type { DirectOperation } from './direct-operation';
import type { AnyNodeType } from './node-type';
import type { RelationshipType } from './relationship-type';
import type { DeclaredWorkflow } from './workflow-type';

/** A plugin as its author writes it. */
export interface PluginDefinition {
  /** Letters, digits, _ and -. The prefix of the plugin's operations in blueprints, and the name of its package. */
  name: string;
  /** Other names of the plugin in blueprints. Each may begin the mapping of an operation. */
  aliases?: readonly string[];
  /** As in package.json. */
  version: string;
  description?: string;
  /** Names of the secrets that operations may read. */
  secrets?: readonly string[];
  types: Readonly<Record<string, AnyNodeType>>;
  relationships?: Readonly<Record<string, RelationshipType>>;
  /** Operations with mappings of their own, for blueprints that name them directly: see `directOperation`. */
  operations?: Readonly<Record<string, PluginOperation | DirectOperation>>;
  workflows?: Readonly<Record<string, DeclaredWorkflow>>;
}
