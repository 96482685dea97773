import type { Json, JsonObject } from '@baton/kernel';
import { joinPath } from '../schema/check-shape';
import { childOf, isString, type MapNode, type Node, textOf } from '../yaml/node';
import type { DataTypes } from './data-types';
import type { ElementContext } from './element-context';
import { EXECUTORS } from './plugins';
import { parsePropertySchemas, schemasJson } from './properties';
import { noProperties, type PropertySchemas } from './property-schema';

/** Common fields of operations in types and templates (reference 5.2). */
export interface OperationFields {
  implementation: string;
  executor: string | null;
  max_retries: number | null;
  retry_interval: number | null;
  timeout: number | null;
  timeout_recoverable: boolean | null;
  /** The node that declares the operation. */
  node: Node;
}

export interface TypeOperation extends OperationFields {
  inputs: PropertySchemas;
}

export interface TemplateOperation extends OperationFields {
  inputs: MapNode | null;
}

/** An operation with plain inputs, in the form of the plan's `interfaces`. */
export interface MergedOperation extends OperationFields {
  inputs: JsonObject;
}

const RETRY_FIELDS = ['max_retries', 'retry_interval', 'timeout'] as const;

function fieldsOf(context: ElementContext, node: Node, path: string): OperationFields {
  const isShort = isString(node);
  const read = (key: string): Json => {
    const value = childOf(node, key);
    return value?.kind === 'scalar' ? value.value : null;
  };
  const fields: OperationFields = {
    implementation: isShort ? node.value : (textOf(childOf(node, 'implementation')) ?? ''),
    executor: textOf(childOf(node, 'executor')) ?? null,
    max_retries: read('max_retries') as number | null,
    retry_interval: read('retry_interval') as number | null,
    timeout: read('timeout') as number | null,
    timeout_recoverable: read('timeout_recoverable') as boolean | null,
    node,
  };
  checkFields(context, fields, path);
  return fields;
}

function checkFields(context: ElementContext, fields: OperationFields, path: string): void {
  const { executor, node } = fields;
  if (executor !== null && !EXECUTORS.includes(executor)) {
    context.diagnostics.report('bad_operation_executor', `"${path}" has the unknown executor "${executor}"`, {
      at: childOf(node, 'executor'),
      path: joinPath(path, 'executor'),
      name: executor,
      valid: EXECUTORS,
    });
  }
  for (const key of RETRY_FIELDS) {
    const value = fields[key];
    const lowest = key === 'max_retries' ? -1 : 0;
    if (typeof value !== 'number' || value >= lowest) continue;
    context.diagnostics.report('bad_retries', `"${joinPath(path, key)}" is ${value}`, {
      at: childOf(node, key),
      path: joinPath(path, key),
      expected: `${lowest} or more`,
    });
  }
}

export function parseTypeOperation(
  context: ElementContext,
  dataTypes: DataTypes,
  node: Node,
  path: string,
): TypeOperation {
  const inputs = childOf(node, 'inputs');
  const fields = fieldsOf(context, node, path);
  return {
    ...fields,
    inputs: inputs
      ? parsePropertySchemas(
          context,
          dataTypes,
          inputs,
          `operation "${path}"`,
          joinPath(path, 'inputs'),
          'inputs',
        )
      : noProperties,
  };
}

export function parseTemplateOperation(context: ElementContext, node: Node, path: string): TemplateOperation {
  const inputs = childOf(node, 'inputs');
  return { ...fieldsOf(context, node, path), inputs: inputs?.kind === 'map' ? inputs : null };
}

function isBare(operation: OperationFields): boolean {
  return (
    operation.implementation === '' &&
    operation.executor === null &&
    RETRY_FIELDS.every((k) => operation[k] === null) &&
    operation.timeout_recoverable === null
  );
}

/** Whether the operation is `{}`: it does nothing, and replaces the operation of a type. */
export function isTypeNoop(operation: TypeOperation): boolean {
  return operation.inputs.size === 0 && isBare(operation);
}

export function isTemplateNoop(operation: TemplateOperation): boolean {
  return (operation.inputs === null || operation.inputs.entries.length === 0) && isBare(operation);
}

/** The normalised form; in a type it includes the schemas of the inputs. */
export function typeOperationJson(operation: TypeOperation): JsonObject {
  return operationJson({ ...operation, inputs: schemasJson(operation.inputs) });
}

export function operationJson(operation: MergedOperation): JsonObject {
  return {
    implementation: operation.implementation,
    inputs: operation.inputs,
    executor: operation.executor,
    max_retries: operation.max_retries,
    retry_interval: operation.retry_interval,
    timeout: operation.timeout,
    timeout_recoverable: operation.timeout_recoverable,
  };
}
