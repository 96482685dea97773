/** Starts validate_agents or install_new_agents for hosts: one execution for each deployment that they belong to. */
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useApi, useTenant } from '../../api/api-context';
import { type EachResult, eachOf } from '../../api/each-of';
import type { ExecutionDetail } from '../../api/executions';
import { problemOf } from '../../api/problem';
import { t } from '../../text/text';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { FormDialog } from '../../ui/form-dialog';
import { byDeployment } from './agent-state';
import { type AgentRow, type AgentWorkflow, startAgentWorkflow } from './agents';
import { Sample } from './upgrade-dialog';

/** Number of parallel requests. The manager queues executions beyond its capacity. */
const AT_ONCE = 4;

interface WorkflowDialogProps {
  workflow: AgentWorkflow;
  rows: readonly Pick<AgentRow, 'name' | 'deployment_id' | 'node_instance_id'>[];
  onClose: () => void;
  /** After the start. */
  onDone: () => void;
}

export default function WorkflowDialog({ workflow, rows, onClose, onDone }: WorkflowDialogProps) {
  const { client } = useApi();
  const tenant = useTenant();
  // The list goes on to be read; what somebody agreed to stays the same.
  const [frozen] = useState(rows);
  const deployments = useMemo(() => new Map(byDeployment(frozen)), [frozen]);
  const start = useMutation({
    mutationFn: () =>
      eachOf([...deployments.keys()], AT_ONCE, (id) =>
        startAgentWorkflow(client, tenant, workflow, id, deployments.get(id)!),
      ),
  });
  if (start.data) return <Results results={start.data} onDone={onDone} />;
  return (
    <FormDialog
      title={t.agents.workflowTitle[workflow](frozen.length)}
      submit={t.agents.workflowStart[workflow]}
      mutation={start}
      onSubmit={() => start.mutate()}
      onClose={onClose}
    >
      <p>{t.agents.workflowText[workflow]}</p>
      <Sample names={frozen.map(({ name }) => name)} />
    </FormDialog>
  );
}

function Results({ results, onDone }: { results: EachResult<ExecutionDetail>[]; onDone: () => void }) {
  const tenant = useTenant();
  return (
    <Dialog
      title={t.agents.workflowResults}
      onClose={onDone}
      actions={
        <Button look="main" onClick={onDone}>
          {t.close}
        </Button>
      }
    >
      <ul role="status">
        {results.map(({ id, answer, error }) => (
          <li key={id}>
            {answer ? (
              <Link to="/$tenant/executions/$id" params={{ tenant, id: answer.id! }}>
                {id}
              </Link>
            ) : (
              <>
                <strong>{id}</strong> {t.agents.refused}: {problemOf(error).message}
              </>
            )}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
