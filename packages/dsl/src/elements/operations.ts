import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import type { DiagnosticKind } from '../diagnostics/kinds';
import { hasScheme } from '../imports/resolver';
import { setOwn } from '../yaml/node';
import type { ElementContext } from './element-context';
import type { MergedInterfaces } from './interfaces';
import type { MergedOperation } from './operation';
import type { PlanPlugin } from './plugins';

/** An operation in the form of the plan, with the plugin that it uses; or the reason why it cannot be resolved. */
type Resolution =
  | { json: JsonObject; use: { plugin: PlanPlugin; executor: string } | null }
  | { kind: DiagnosticKind; message: string };

/** Target of an implementation or workflow mapping (reference 5.5). */
export interface Mapping {
  plugin: PlanPlugin;
  operation: string;
  /** The script itself; null for the plugin's own function. */
  script: { key: 'script_path' | 'script_source'; text: string } | null;
}

/** Resolves implementations of one blueprint. */
export class Mappings {
  private readonly scriptPlugin: PlanPlugin | undefined;
  /** Resolved operations; templates share operations, so each is resolved once. */
  readonly resolved = new WeakMap<MergedOperation, Resolution>();

  constructor(
    private readonly context: ElementContext,
    readonly plugins: ReadonlyMap<string, PlanPlugin>,
    private readonly namespaces: ReadonlySet<string>,
  ) {
    this.scriptPlugin = [...plugins.values()].find((p) => p.name.endsWith('script'));
  }

  /** Resolves `text`; a failure contains the kind to report and its message. */
  resolve(
    text: string,
    inputNames: (name: string) => boolean,
    unresolved: DiagnosticKind,
  ): Mapping | { kind: DiagnosticKind; message: string } {
    const candidates = this.candidates(text);
    const script = this.scriptOf(text, candidates.length > 0);
    if (script !== null) {
      if (inputNames('script_path') || inputNames('script_source')) {
        return {
          kind: 'script_input_taken',
          message: `the script "${short(text)}" cannot be named twice: script_path or script_source is given as well`,
        };
      }
      if (!this.scriptPlugin)
        return {
          kind: 'script_plugin_missing',
          message: `the script "${short(text)}" needs a plugin whose name ends with "script"`,
        };
      return { plugin: this.scriptPlugin, operation: '', script };
    }
    if (candidates.length > 1)
      return {
        kind: 'ambiguous_plugin',
        message: `"${text}" may belong to the plugins ${candidates.map((p) => `"${p.name}"`).join(', ')}`,
      };
    const [plugin] = candidates;
    if (plugin) return { plugin, operation: text.slice(plugin.name.length + 1), script: null };
    return {
      kind: unresolved,
      message: `"${short(text)}" names neither a plugin's function nor a script that exists`,
    };
  }

  /** Returns the plugins whose name and a dot begin the text: every dot ends one possible name. */
  private candidates(text: string): PlanPlugin[] {
    const found: PlanPlugin[] = [];
    for (let dot = text.indexOf('.'); dot >= 0; dot = text.indexOf('.', dot + 1)) {
      const plugin = this.plugins.get(text.slice(0, dot));
      if (plugin) found.push(plugin);
    }
    return found;
  }

  private scriptOf(text: string, hasCandidates: boolean): Mapping['script'] {
    if (hasScheme(text) || this.context.isScript(text)) return { key: 'script_path', text };
    if (text.trim().includes('\n')) return { key: 'script_source', text };
    const delimiter = text.indexOf('--');
    if (!hasCandidates && delimiter > 0 && this.namespaces.has(text.slice(0, delimiter)))
      return { key: 'script_path', text };
    return null;
  }
}

function short(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}...` : text;
}

/** The operations of a node or of one side of a relationship, in the form of the plan. */
export interface ResolvedOperations {
  json: JsonObject;
  /** Plugins used by the operations, with the executor of the operation. */
  uses: { plugin: PlanPlugin; executor: string }[];
  failures: {
    kind: DiagnosticKind;
    message: string;
    interface: string;
    operation: string;
    at: MergedOperation['node'];
  }[];
}

/** Returns resolved operations under `interface.operation`, and under the short name where it is not ambiguous (reference 5.4). */
export function resolveOperations(
  mappings: Mappings,
  interfaces: MergedInterfaces,
  unresolved: DiagnosticKind,
): ResolvedOperations {
  const json: JsonObject = {};
  const shortNames = new Map<string, number>();
  for (const operations of interfaces.operations.values())
    for (const op of operations.keys()) shortNames.set(op, (shortNames.get(op) ?? 0) + 1);
  const result: ResolvedOperations = { json, uses: [], failures: [] };
  const used = new Set<string>();
  for (const [name, operations] of interfaces.operations) {
    for (const [op, operation] of operations) {
      let resolved = mappings.resolved.get(operation);
      if (resolved === undefined)
        mappings.resolved.set(operation, (resolved = resolveOperation(mappings, operation, unresolved)));
      if ('kind' in resolved) {
        result.failures.push({ ...resolved, interface: name, operation: op, at: operation.node });
        // there will be no plan, but functions in its inputs are still checked
        setOwn(json, `${name}.${op}`, { inputs: operation.inputs });
        continue;
      }
      const { use } = resolved;
      if (use && !used.has(`${use.plugin.name} ${use.executor}`)) {
        used.add(`${use.plugin.name} ${use.executor}`);
        result.uses.push(use);
      }
      if (shortNames.get(op) === 1) setOwn(json, op, resolved.json as Json);
      setOwn(json, `${name}.${op}`, resolved.json as Json);
    }
  }
  return result;
}

function resolveOperation(
  mappings: Mappings,
  operation: MergedOperation,
  unresolved: DiagnosticKind,
): Resolution {
  const { implementation, inputs, max_retries, retry_interval, timeout, timeout_recoverable } = operation;
  const rest = { has_intrinsic_functions: false, max_retries, retry_interval, timeout, timeout_recoverable };
  if (implementation === '') {
    return {
      use: null,
      json: {
        plugin: '',
        operation: '',
        executor: null,
        inputs: {},
        ...rest,
        max_retries: null,
        retry_interval: null,
        timeout: null,
        timeout_recoverable: null,
      },
    };
  }
  const mapping = mappings.resolve(implementation, (name) => Object.hasOwn(inputs, name), unresolved);
  if ('kind' in mapping) return mapping;
  const { plugin, script } = mapping;
  const executor = operation.executor ?? (script ? 'auto' : plugin.executor);
  const types = inputTypes(inputs);
  const json: JsonObject = {
    plugin: plugin.name,
    operation: script ? 'script_runner.tasks.run' : mapping.operation,
    executor,
    inputs: script ? { ...inputs, [script.key]: script.text } : inputs,
    ...rest,
    ...(types === null ? {} : { inputs_types: types }),
  };
  return { json, use: { plugin, executor } };
}

/** Returns the types that inputs carry in a key `type`; null when none does. */
function inputTypes(inputs: JsonObject): JsonObject | null {
  let types: JsonObject | null = null;
  for (const name of Object.keys(inputs)) {
    const value = inputs[name];
    if (isJsonObject(value) && Object.hasOwn(value, 'type')) setOwn((types ??= {}), name, value.type!);
  }
  return types;
}
