import { isJsonObject, type Json } from '@baton/kernel';
import type { Diagnostics, ReportDetails } from '../diagnostics/diagnostic';
import type { DiagnosticKind } from '../diagnostics/kinds';
import type { ElementContext } from '../elements/element-context';
import type { ParsedPlan, PlanNode } from '../plan/plan';
import { compareVersions } from '../schema/check-shape';
import type { Node } from '../yaml/node';
import { type ArgumentFault, checkContents, checkForm } from './arguments';
import { locate } from './locate';
import { pathText, walkPath } from './path-walk';
import { mapPlaces, type Scope, walkCalls } from './places';
import { type FunctionCall, isFunction } from './registry';

/** Versions that introduced a function; they apply even when version checks are off. */
const SINCE: Partial<Record<FunctionCall['name'], readonly number[]>> = { concat: [1, 1], merge: [1, 3] };

const SPECIAL = new Set(['SELF', 'SOURCE', 'TARGET']);
const ATTRIBUTES = new Set(['get_attribute', 'get_attributes_list', 'get_attributes_dict']);

/** Data of the document that an inspection needs besides its plan. */
export type InspectedDocument = Pick<ElementContext, 'root' | 'partialNodes'>;

export interface FunctionUse {
  /** Inputs that some function reads by name. */
  inputs: Set<string>;
  /** Whether an input's name is computed: then unused inputs cannot be determined. */
  hasComputedInput: boolean;
}

/**
 * Walks the functions of a plan: collects the used inputs, and reports calls that can never work (reference 4,
 * "Validation at parse") unless `diagnostics` is null.
 */
export async function inspectFunctions(
  plan: ParsedPlan,
  diagnostics: Diagnostics | null,
  document: InspectedDocument,
): Promise<FunctionUse> {
  const use: FunctionUse = { inputs: new Set(), hasComputedInput: false };
  const inspector = new Inspector(plan, diagnostics, document);
  await mapPlaces(plan, (value, scope, path) => {
    walkCalls(value, path, (call, written, at) => {
      collectRequirements(plan, call);
      collectInputs(call, use);
      inspector.check(call, written, scope, at);
    });
    return value;
  });
  return use;
}

function collectRequirements(plan: ParsedPlan, { name, args }: FunctionCall): void {
  if (name === 'get_secret') plan.requirements.secrets.push(args);
  else if (name === 'get_environment_capability')
    plan.requirements.parent_capabilities.push(Array.isArray(args) ? args : [args]);
}

function collectInputs({ name, args }: FunctionCall, use: FunctionUse): void {
  if (name !== 'get_input') return;
  const first = Array.isArray(args) ? args[0] : args;
  if (typeof first === 'string') use.inputs.add(first);
  else use.hasComputedInput = true;
}

class Inspector {
  private readonly nodes: Map<string, PlanNode>;

  constructor(
    private readonly plan: ParsedPlan,
    private readonly diagnostics: Diagnostics | null,
    private readonly document: InspectedDocument,
  ) {
    this.nodes = new Map(plan.nodes.map((n) => [n.name, n]));
  }

  check(call: FunctionCall, written: Json, scope: Scope, path: string): void {
    if (this.diagnostics === null) return;
    const report = (kind: DiagnosticKind, message: string, details: ReportDetails = {}): void => {
      const at: Node | undefined = locate(this.document.root, scope, path);
      this.diagnostics!.report(kind, message, { at, path, value: written, ...details });
    };
    const tell = (fault: ArgumentFault): void =>
      report(fault.kind, fault.message, { expected: fault.expected });
    const form = checkForm(call);
    if (form) return tell(form);
    const since = SINCE[call.name];
    if (since && compareVersions(this.plan.version.definitions_version, since) < 0) {
      return report('function_form', `${call.name} needs cloudify_dsl_${since.join('_')} or newer`, {
        expected: `tosca_definitions_version: cloudify_dsl_${since.join('_')}`,
      });
    }
    const fault = checkContents(call);
    if (fault) return tell(fault);
    if (call.name === 'get_input') this.checkInput(call.args, report);
    else if (call.name === 'get_property') this.checkProperty(call.args as Json[], scope, report);
    else if (ATTRIBUTES.has(call.name)) this.checkAttribute(call.name, call.args as Json[], scope, report);
  }

  private checkInput(args: Json, report: Report): void {
    const first = Array.isArray(args) ? args[0] : args;
    if (isFunction(first) || (typeof first === 'string' && Object.hasOwn(this.plan.inputs, first))) return;
    const name = String(first);
    report('unknown_input', `get_input reads the input "${name}", which is not declared`, {
      name,
      valid: Object.keys(this.plan.inputs),
    });
  }

  private checkProperty(args: Json[], scope: Scope, report: Report): void {
    if (args.some((a) => isFunction(a))) return;
    const [ref, ...path] = args as [string, ...Json[]];
    const name = SPECIAL.has(ref) ? specialNode(ref, scope) : ref;
    if (name === null)
      return report('function_argument', `${ref} means nothing here`, { expected: meaningOf(scope) });
    const node = this.nodes.get(name);
    if (!node)
      return report('unknown_node', `get_property names the unknown node "${name}"`, {
        name,
        valid: this.nodes.keys(),
      });
    if (this.document.partialNodes.has(node.name)) return;
    const walked = walkPath(node.properties, path);
    if (walked.kind !== 'fault') return;
    const parent = isJsonObject(node.properties) && path.length === 1 ? Object.keys(node.properties) : [];
    report(
      'function_failed',
      `get_property: "${pathText(path)}" of "${name}" does not exist (${walked.reason})`,
      { name: String(walked.at), valid: parent },
    );
  }

  private checkAttribute(name: string, args: Json[], scope: Scope, report: Report): void {
    if (args.some((a) => isFunction(a))) return;
    const ref = String(args[0]);
    if (SPECIAL.has(ref)) {
      if (specialNode(ref, scope) === null)
        report('function_argument', `${ref} of ${name} means nothing here`, { expected: meaningOf(scope) });
    } else if (!this.nodes.has(ref)) {
      report('unknown_node', `${name} names the unknown node "${ref}"`, {
        name: ref,
        valid: this.nodes.keys(),
      });
    }
  }
}

type Report = (kind: DiagnosticKind, message: string, details?: ReportDetails) => void;

/** Returns the node that SELF, SOURCE or TARGET means; null where it has no meaning. */
function specialNode(ref: string, scope: Scope): string | null {
  if (scope.kind === 'node') return ref === 'SELF' ? scope.node : null;
  if (scope.kind === 'relationship')
    return ref === 'SOURCE' ? scope.node : ref === 'TARGET' ? scope.target : null;
  return null;
}

function meaningOf(scope: Scope): string {
  if (scope.kind === 'node') return 'SELF or the name of a node';
  return scope.kind === 'relationship' ? 'SOURCE, TARGET or the name of a node' : 'the name of a node';
}
