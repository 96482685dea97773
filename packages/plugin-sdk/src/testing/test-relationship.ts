import type { Json, JsonObject } from '@baton/kernel';
import type { DeclaredPlugin } from '../plugin';
import { isResumable } from '../resumable';
import { STEPS_PROPERTY } from '../run/steps';
import type { LogLine } from './memory-context';
import { MemoryInstance } from './memory-instance';
import { memorySecrets } from './memory-secrets';
import { type Held, nodeContext, operationOf, type RunOptions, runOnce, type Surroundings } from './run-once';

/** One end of a relationship of a test. */
export interface TestSideOptions {
  /** Type of the node. Default: cloudify.nodes.Root. */
  type?: string;
  properties?: JsonObject;
  /** Runtime properties at the beginning. */
  runtime?: JsonObject;
}

export interface TestRelationshipOptions extends Surroundings {
  source?: TestSideOptions;
  target?: TestSideOptions;
}

/** One end, as it is stored. */
export interface TestSide {
  /** Without results of steps. */
  readonly runtimeProperties: JsonObject;
}

/** A relationship between two node instances, without a manager. */
export interface TestRelationship {
  /**
   * Runs an operation, for instance `source.establish`, or a mapping of the plugin for the source, as a worker does.
   * @throws what the operation throws; TestFailure for an operation that the type does not have
   */
  run(operation: string, inputs?: Readonly<Record<string, Json>>, options?: RunOptions): Promise<Json>;
  readonly source: TestSide;
  readonly target: TestSide;
  readonly log: readonly LogLine[];
  isResumable(operation: string): boolean;
}

/** Makes a relationship of one of the plugin's types, or of any type for operations that blueprints name directly. */
export function testRelationship(
  plugin: DeclaredPlugin,
  typeName: string,
  options: TestRelationshipOptions = {},
): TestRelationship {
  const lines: LogLine[] = [];
  const [source, target] = [sideOf(options.source, 'source'), sideOf(options.target, 'target')];
  const held: Held = {
    plugin,
    options,
    own: () => source.side,
    target: () => target.side,
    secrets: memorySecrets(),
    lines,
    tasks: 0,
  };
  return {
    log: lines,
    source: source.shown,
    target: target.shown,
    isResumable: (name) => isResumable(operationOf(plugin, typeName, name)),
    run: async (name, inputs = {}, run = {}) => {
      const side = name.startsWith('target.') ? 'target' : 'source';
      return await runOnce(held, { name, operation: operationOf(plugin, typeName, name), side }, inputs, run);
    },
  };
}

function sideOf(
  { type = 'cloudify.nodes.Root', properties = {}, runtime = {} }: TestSideOptions = {},
  id: string,
) {
  const instance = new MemoryInstance(runtime, id);
  const shown: TestSide = {
    get runtimeProperties() {
      const { [STEPS_PROPERTY]: _, ...rest } = instance.stored;
      return rest;
    },
  };
  return { side: { node: nodeContext(type, properties, id), instance }, shown };
}
