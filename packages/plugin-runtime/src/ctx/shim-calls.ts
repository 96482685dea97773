import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { FatalError, type OperationErrorKind } from '@baton/plugin-sdk';
import { agentScriptOf } from '../context/agent-script';
import type { Instance, Side } from '../context/instance';
import { sessionResources } from '../context/resources';
import type { OperationSession } from '../context/session';
import { staticSnapshot } from '../context/snapshot';
import { causesOf } from '../operation-end';
import type { ScriptResult } from '../script/script-result';
import { secondsOf } from '../thrown';
import type { CtxWork } from './ctx-work';

/** Calls of our Python shim, which keeps runtime properties on its side and sends whole values. */
export type ShimCall = (op: string, request: JsonObject) => Promise<Json>;

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
const KINDS: readonly string[] = ['fatal', 'retryable', 'retry'];

export function shimCalls(session: OperationSession, result: ScriptResult, { places }: CtxWork): ShimCall {
  const sideOf = (name: string): Promise<Side> =>
    name === 'source' || name === 'target' ? session.side(name) : session.own();
  const calls: Record<string, (request: JsonObject) => Promise<Json>> = {
    context: async () => ({
      ...staticSnapshot(session),
      ...sidesOf(session),
      inputs: await session.inputs(),
    }),
    deployment: async () => (await session.open()).model.deployment,
    side: async (r) => {
      const { record, instance } = await sideOf(text(r.side));
      return { node: record.node, instance: instanceJson(instance) } as unknown as Json;
    },
    save: async (r) => {
      const { instance } = await sideOf(text(r.side));
      if (!isJsonObject(r.properties)) throw new FatalError('runtime properties must be a dictionary');
      instance.runtimeProperties = r.properties;
      if (r.now === true) await instance.update();
      return null;
    },
    refresh: async (r) => {
      const { instance } = await sideOf(text(r.side));
      await instance.refresh(true);
      return instanceJson(instance);
    },
    host_ip: async (r) => (await sideOf(text(r.side))).instance.hostIp(),
    others: async () => (await session.host.readDeployment()) as unknown as Json,
    agent_script: async (r) => ({ ...(await agentScriptOf(session, r.agent_config ?? undefined)) }),
    resource: async (r) => (await sessionResources(session, places).read(text(r.path))).toString('base64'),
    raised: async (r) => {
      result.raised = {
        kind: (KINDS.includes(text(r.kind)) ? r.kind : 'retryable') as OperationErrorKind,
        exceptionType: text(r.exception_type) || 'Exception',
        message: text(r.message),
        traceback: typeof r.traceback === 'string' ? r.traceback : null,
        causes: causesOf(r.causes),
        retryAfter: secondsOf(r.retry_after),
      };
      return null;
    },
  };
  return async (op, request) => {
    const call = Object.hasOwn(calls, op) ? calls[op] : undefined;
    if (!call) throw new Error(`unknown call ${op}`);
    return call(request);
  };
}

/** The sides of the operation, as in its context (reference/workflows.md 4.1). */
function sidesOf({ task: { self, related } }: OperationSession): JsonObject {
  return {
    node_id: self?.nodeInstanceId ?? null,
    node_name: self?.nodeId ?? null,
    related: related && {
      node_id: related.nodeInstanceId,
      node_name: related.nodeId,
      is_target: related.isTarget,
    },
  };
}

function instanceJson(instance: Instance): Json {
  return { ...instance.record, runtime_properties: instance.runtimeProperties } as unknown as Json;
}
