import type { WorkflowContext, WorkflowInstance, WorkflowNode } from '@baton/plugin-sdk';
import { RunContext } from '../context/run-context';
import type { OperationSession } from '../context/session';
import { createCodeGraph, operationItem, optionsOf } from './code-graph';
import type { WorkItem } from './work';
import type { WorkBoard } from './work-board';
import { readModel } from './workflow-calls';

/** The context of workflow code that runs in this process. */
export function codeContext(session: OperationSession, board: WorkBoard): WorkflowContext {
  const one = async (item: WorkItem) => (await board.run([item], 0))[0];
  const lifecycle = async (
    direction: 'install' | 'uninstall',
    ids: string[],
    related: string[],
    ignore: boolean,
  ) => {
    await board.run([
      {
        key: board.keyOf(),
        item: 'lifecycle',
        direction,
        instanceIds: ids,
        relatedIds: related,
        isIgnoringFailure: ignore,
      },
    ]);
  };
  return {
    ...factsOf(session, board),
    model: async () => {
      const { nodes, instances } = await readModel(session, board.session);
      return {
        nodes: nodes as unknown as WorkflowNode[],
        instances: instances as unknown as WorkflowInstance[],
      };
    },
    executeOperation: async (instanceId, operation, options) => {
      const item = {
        key: board.keyOf(options),
        ...operationItem(instanceId, operation, options),
      } as WorkItem;
      return (await one(item))?.result ?? null;
    },
    setState: async (instanceId, state) =>
      void (await one({ key: board.keyOf(), item: 'state', instanceId, state })),
    sendNodeEvent: async (instanceId, text) =>
      void (await one({ key: board.keyOf(), item: 'node-event', instanceId, text })),
    sendEvent: async (text) =>
      void (await one({ key: board.keyOf(), item: 'event', text, eventType: 'workflow_stage' })),
    step: async (name, run, options) => {
      const key = board.keyOf(options);
      board.step(key, run);
      return (await one({ key, item: 'step', name, ...optionsOf(options) } as WorkItem))?.result ?? null;
    },
    graph: () => createCodeGraph(board),
    install: (ids, related = []) => lifecycle('install', ids, related, false),
    uninstall: (ids, related = [], isIgnoringFailure = false) =>
      lifecycle('uninstall', ids, related, isIgnoringFailure),
  };
}

type Facts = Pick<
  WorkflowContext,
  | 'workflowId'
  | 'executionId'
  | 'tenant'
  | 'deployment'
  | 'blueprint'
  | 'createdBy'
  | 'isDryRun'
  | 'isResumed'
  | 'logger'
  | 'cancelSignal'
  | 'signal'
  | 'executionToken'
>;

function factsOf(session: OperationSession, board: WorkBoard): Facts {
  const { task } = session;
  const noFiles = (): never => {
    throw new Error('workflow code has no folder of its own');
  };
  return {
    workflowId: task.workflowId,
    executionId: task.executionId,
    tenant: task.tenant,
    deployment: { id: task.deploymentId, displayName: task.deploymentDisplayName },
    blueprint: { id: task.blueprintId },
    createdBy: task.createdBy,
    isDryRun: task.isDryRun,
    isResumed: task.isResumed,
    logger: new RunContext(session, noFiles).logger,
    cancelSignal: board.session.cancelSignal,
    signal: session.signal,
    executionToken: task.executionToken,
  };
}
