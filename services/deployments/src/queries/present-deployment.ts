import { workflowEntries } from '../domain/workflow-entries';
import { modelFields, planFields } from '../store/deployment-columns.sql';

/** A selected row: response fields as they are, plan_ and states_ to be put together. */
export type SelectedDeployment = Record<string, unknown> & {
  plan_?: { model?: string; node_types?: string[] } & Record<string, unknown>;
  states_?: string[];
};
export type PresentedDeployment = Record<string, unknown>;

/** Fields of the original that hold nothing; clients may read them. */
const EMPTY: Record<string, unknown> = { permalink: null, deployment_groups: [], workdir_zip: null };

/** The object of REST. `models` holds the shared documents by digest. */
export function presentDeployment(
  row: SelectedDeployment,
  models: ReadonlyMap<string, unknown>,
  include: string[] | null,
): PresentedDeployment {
  const { plan_: plan, states_: states, one_: _one, ...fields } = row;
  const isWanted = (name: string): boolean => include === null || include.includes(name);
  for (const [name, value] of Object.entries(EMPTY)) if (isWanted(name)) fields[name] = value;
  const model = (plan?.model === undefined ? {} : (models.get(plan.model) ?? {})) as Record<string, unknown>;
  for (const name of planFields) {
    if (!isWanted(name)) continue;
    const value = modelFields.includes(name) ? model[name] : plan?.[name];
    fields[name] =
      name === 'workflows'
        ? workflowEntries(value, { states: states ?? [], nodeTypes: plan?.node_types ?? [] })
        : (value ?? {});
  }
  return fields;
}
