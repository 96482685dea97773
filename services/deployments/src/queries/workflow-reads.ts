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
 * Reads deployments for the engine. The engine asks for them one by one, but many executions begin at the same moment: such reads
 * are gathered into one statement. Null: there is no such deployment.
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
    // Whole models may be large, so each is read in a statement of its own.
    model: async (of, isWhole) =>
      isWhole ? (await readModels(db.query, [of], true))[0]! : await models.read('', of),
  };
}
