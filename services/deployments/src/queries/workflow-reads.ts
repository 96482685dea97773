import { type Db, gather } from '@baton/postgres';
import type { DB } from '../store/tables.gen';
import {
  type DeploymentPlace,
  type FactsRow,
  type ModelRow,
  readFacts,
  readModels,
} from '../store/workflow-reads.sql';

/**
 * What the engine asks of deployments, one by one: many executions begin at the same moment, and what is asked then is read
 * together. Null: there is no such deployment.
 */
export interface WorkflowReads {
  facts(of: DeploymentPlace): Promise<FactsRow | null>;
  model(of: DeploymentPlace, isWhole: boolean): Promise<ModelRow | null>;
}

export function gatherWorkflowReads(db: Pick<Db<DB>, 'query'>): WorkflowReads {
  const facts = gather<DeploymentPlace, FactsRow>((asked) => readFacts(db.query, asked));
  const models = gather<DeploymentPlace, ModelRow>((asked) => readModels(db.query, asked, false));
  return {
    facts: (of) => facts.read('', of),
    // Whole models may be large: each is read for itself.
    model: async (of, isWhole) =>
      isWhole ? (await readModels(db.query, [of], true))[0]! : await models.read('', of),
  };
}
