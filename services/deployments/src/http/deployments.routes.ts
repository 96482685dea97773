import type { ListQuery, Principal } from '@baton/contracts';
import { deploymentsRoutes } from '@baton/contracts/http/deployments';
import {
  answer,
  type BoundRoute,
  bindRoutes,
  type HandlersOf,
  type HttpCall,
  listEnvelope,
  pickFields,
  rawEnvelope,
} from '@baton/http';
import { AppError, notFound } from '@baton/kernel';
import { changeDeployment, setSite, setVisibility } from '../commands/change-deployment';
import { createDeployment } from '../commands/create-deployment';
import { deleteDeployment } from '../commands/delete-deployment';
import type { ServiceDeps } from '../deps';
import { listDeploymentRecords, readDeploymentRecord } from '../queries/deployment-records';
import { withDirectChildren } from '../queries/direct-children';
import { evaluateCapabilities, evaluateOutputs } from '../queries/evaluate-outputs';
import { listDeployments, readDeploymentObject } from '../queries/list-deployments';
import { listWorkflows } from '../queries/list-workflows';
import { deploymentSelector } from './deployment-selector';
import { hasData } from './has-data';
import type { WirePolicy } from './wire-policy';

type AnyCall = Pick<HttpCall, 'principal' | 'include' | 'version'>;

type Handlers = HandlersOf<typeof deploymentsRoutes>;
type Write =
  | 'createDeployment'
  | 'deleteDeployment'
  | 'updateDeployment'
  | 'setDeploymentVisibility'
  | 'setDeploymentSite';
type Read = (call: AnyCall, id: string, tellsWorkflows?: boolean) => Promise<Record<string, unknown>>;

/** Deployments (spec v3.1 part 1 "Deployments", v2.1). */
export function deploymentsHttp(deps: ServiceDeps, wire: WirePolicy): BoundRoute[] {
  const read: Read = async (call, id, tellsWorkflows = false) => {
    const found = await readDeploymentObject(deps, call.principal, id, call.include);
    if (!found) throw notFound('Deployment', id);
    return wire.presentDeployment(call.version, found, tellsWorkflows);
  };
  return bindRoutes(deploymentsRoutes, {
    ...readHandlers(deps, wire, read),
    ...writeHandlers(deps, wire, read),
  });
}

function readHandlers(deps: ServiceDeps, wire: WirePolicy, read: Read): Omit<Handlers, Write> {
  const selected = (principal: Principal, list: ListQuery) => deploymentSelector(deps, principal, list);
  const isAsStored = ({ version, query }: Pick<HttpCall, 'version' | 'query'>): boolean =>
    wire.isAsStored(version) && query.all_sub_deployments !== false;
  return {
    listDeployments: async (call) => {
      const { principal, list } = call;
      const selector = await selected(principal, list);
      const records = isAsStored(call) ? await listDeploymentRecords(deps, principal, list, selector) : null;
      if (records) return rawEnvelope(records, list);
      const page = await listDeployments(deps, principal, list, selector);
      const counted =
        call.query.all_sub_deployments === false
          ? await withDirectChildren(deps.db.query, principal, page.items)
          : page.items;
      const items = counted.map((item) => wire.presentDeployment(call.version, item, hasData(list)));
      return listEnvelope({ ...page, items }, list);
    },
    getDeployment: async (call) => {
      if (call.query.include_workdir === true) return withWorkdir(call, deps, read);
      if (call.include === null && isAsStored(call)) {
        const text = await readDeploymentRecord(deps, call.principal, call.params.id!);
        if (!text) throw notFound('Deployment', call.params.id!);
        return text;
      }
      const found = await read(call, call.params.id!, true);
      if (call.query.all_sub_deployments !== false) return found;
      const id = call.params.id!;
      const [counted] = await withDirectChildren(deps.db.query, call.principal, [{ ...found, id }]);
      return call.include ? pickFields(counted!, call.include) : counted!;
    },
    getDeploymentOutputs: async ({ principal, params }) => ({
      deployment_id: params.id!,
      outputs: await evaluateOutputs(deps, principal, params.id!),
    }),
    getDeploymentCapabilities: async ({ principal, params }) => ({
      deployment_id: params.id!,
      capabilities: await evaluateCapabilities(deps, principal, params.id!),
    }),
    listWorkflows: async ({ principal, list }) =>
      wire.workflowPage(await listWorkflows(deps, principal, list, await selected(principal, list)), list),
  };
}

/** Adds the working folder as a zip in base64; null when the folder is empty. */
async function withWorkdir(
  call: AnyCall & Pick<HttpCall, 'params'>,
  { catalog }: ServiceDeps,
  read: Read,
): Promise<object> {
  const id = call.params.id!;
  const include = call.include && [...new Set([...call.include, 'tenant_name'])];
  const found = await read({ ...call, include }, id, true);
  const zip = await catalog.zippedFolder(String(found.tenant_name), id);
  const whole = { ...found, workdir_zip: zip === null ? null : zip.toString('base64') };
  return call.include ? (pickFields(whole, call.include) as object) : whole;
}

function writeHandlers(deps: ServiceDeps, wire: WirePolicy, read: Read): Pick<Handlers, Write> {
  return {
    createDeployment: async (call) => {
      const isPrivate = call.body.private_resource ?? call.query.private_resource;
      const { workdir_zip: workdir, ...body } = call.body;
      const zip = workdir ? Buffer.from(workdir, 'base64') : null;
      if (zip && call.query.async_create === true)
        throw new AppError('deployment_creation_error', 'workdir_zip and async_create exclude each other', {
          field: 'workdir_zip',
        });
      const request = { ...body, private_resource: isPrivate };
      await createDeployment(deps, call.principal, call.params.id!, request, zip);
      return read(call, call.params.id!);
    },
    deleteDeployment: async (call) => {
      const { query, params, principal } = call;
      const body = (call.body ?? {}) as { ignore_live_nodes?: boolean; force?: boolean };
      const object = wire.showsDeleted(call.version) ? await read(call, params.id!) : null;
      await deleteDeployment(deps, principal, params.id!, {
        force: [query.force, query.ignore_live_nodes, body.force, body.ignore_live_nodes].includes(true),
        deleteLogs: query.delete_logs ?? false,
        recursive: query.recursive ?? false,
      });
      return object ? answer({ status: 200, body: object }) : undefined;
    },
    updateDeployment: async (call) => {
      await changeDeployment(deps, call.principal, call.params.id!, call.body);
      return read(call, call.params.id!);
    },
    setDeploymentVisibility: async (call) => {
      await setVisibility(deps, call.principal, call.params.id!, call.body.visibility);
      return read(call, call.params.id!);
    },
    setDeploymentSite: async (call) => {
      await setSite(deps, call.principal, call.params.id!, call.body);
      return read(call, call.params.id!);
    },
  };
}
