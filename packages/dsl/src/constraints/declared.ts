import { withArticle } from '../diagnostics/wording';
import type { ElementContext } from '../elements/element-context';
import { spend } from '../elements/element-context';
import { isFunctionNode } from '../functions/registry';
import { gate, type ShapeContext } from '../schema/check-shape';
import { itemsOf, type MapNode, type Node, toJson } from '../yaml/node';
import { patternCost } from './pattern';
import { constraintTable, isArgumentFit } from './table';

/**
 * Checks the constraints declared by an input or workflow parameter (reference 3.3). Only inputs of version 1.5 may
 * have `error_message` beside the operator.
 */
export function checkConstraints(
  context: ElementContext,
  node: Node | undefined,
  path: string,
  isInput: boolean,
): void {
  itemsOf(node).forEach((item, i) => {
    if (item.kind === 'map') checkConstraint(context, item, `${path}[${i}]`, isInput);
  });
}

function checkConstraint(context: ElementContext, node: MapNode, path: string, isInput: boolean): void {
  const { diagnostics } = context;
  const bad = (message: string): void =>
    diagnostics.report('bad_constraint', message, {
      at: node,
      path,
      expected: `{OPERATOR: ARGUMENT}, the operator one of ${Object.keys(constraintTable).join(', ')}`,
    });
  const operators = node.entries.filter((e) => e.name !== 'error_message');
  if (node.entries.length === 0) return bad('a constraint is empty');
  if (node.entries.length > 1) {
    if (!isInput || (!context.validateVersion && context.version.length > 0 && isBelow15(context)))
      return bad('a constraint has several keys');
    gate(context, 'a constraint with error_message', [1, 5], node, path);
  }
  if (operators.length !== 1)
    return bad(
      operators.length === 0 ? 'a constraint has no operator' : 'a constraint has several operators',
    );
  const [operator] = operators;
  const entry = Object.hasOwn(constraintTable, operator!.name) ? constraintTable[operator!.name] : undefined;
  if (entry === undefined) {
    diagnostics.report('bad_constraint', `there is no constraint "${operator!.name}"`, {
      at: operator!.key,
      path,
      name: operator!.name,
      valid: Object.keys(constraintTable),
    });
    return;
  }
  if (operator!.value.kind === 'scalar') spend(context.work, patternCost(String(operator!.value.value)));
  if (isFunctionNode(operator!.value) || isArgumentFit(entry, toJson(operator!.value))) return;
  diagnostics.report(
    'bad_constraint_argument',
    `the argument of "${operator!.name}" must be ${withArticle(entry.argument)}`,
    { at: operator!.value, path: `${path}.${operator!.name}`, expected: entry.argument },
  );
}

function isBelow15({ version }: ShapeContext): boolean {
  return (version[0] ?? 0) < 1 || (version[0] === 1 && (version[1] ?? 0) < 5);
}
