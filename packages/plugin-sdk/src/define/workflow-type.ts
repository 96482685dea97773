import type { z } from 'zod';
import type { ObjectSchema } from '../schema/describe';
import type { Http } from '../tools/http-options';
import type { WorkflowContext } from '../workflow';
import type { NoValues } from './node-type';

/** What the code of a workflow of a declared plugin gets. */
export interface WorkflowScope extends WorkflowContext {
  /** Stops when the code is stopped by force. */
  readonly http: Http;
  /**
   * The API of the manager, with the rights of the execution. Addresses begin below /api/v3.1, for instance `/deployments`.
   * @throws FatalError where no manager runs the code
   */
  manager(): Http;
}

/** A workflow as its author writes it. */
export interface WorkflowSpec<P extends ObjectSchema> {
  /** z.object(...): checked before the code runs, with defaults. Parameters that it does not name are passed as they are. */
  parameters?: P;
  /** An error that it throws fails the execution. The returned value is not kept. */
  run(ctx: WorkflowScope, parameters: Readonly<z.output<P>>): unknown;
  /** A mapping that blueprints know already: the name of the plugin or one of its aliases, a dot, and the mapping. */
  mapping?: string;
  /** See PluginWorkflow.isResumable. */
  isResumable?: boolean;
  /** How many instances of the deployment must be active. Default: any number. */
  availableWhen?: readonly ('all' | 'partial' | 'none')[];
}

/** A workflow of a declared plugin, without the types of its values. Its name is the name in blueprints. */
export type DeclaredWorkflow = WorkflowSpec<ObjectSchema>;

/** Declares a workflow. The types of its parameters follow from the schema. */
export function workflow<P extends ObjectSchema = NoValues>(spec: WorkflowSpec<P>): DeclaredWorkflow {
  return spec as unknown as DeclaredWorkflow;
}

/** The mapping of a workflow, without the name of the plugin. */
export const workflowMapping = (name: string, { mapping }: DeclaredWorkflow): string =>
  mapping === undefined ? name : mapping.slice(mapping.indexOf('.') + 1);
