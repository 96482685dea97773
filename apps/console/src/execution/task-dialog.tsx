/** One task with all that the manager knows of it: its parameters are read only here. */
import { useQuery } from '@tanstack/react-query';
import { useApi, useTenant } from '../api/api-context';
import { taskQuery } from '../api/executions';
import { t } from '../text/text';
import { Badge } from '../ui/badge';
import { Dialog } from '../ui/dialog';
import { Facts } from '../ui/facts';
import { Properties } from '../ui/json-view';
import { Loaded } from '../ui/states';
import { Time } from '../ui/time';
import type { TaskRow } from './task-rows';

interface TaskDialogProps {
  executionId: string;
  row: TaskRow;
  onClose: () => void;
}

export default function TaskDialog({ executionId, row, onClose }: TaskDialogProps) {
  const { client } = useApi();
  const query = useQuery(taskQuery(client, useTenant(), executionId, row.id));
  const names = t.gantt.facts;
  return (
    <Dialog title={[row.name, row.about].filter(Boolean).join(' ')} onClose={onClose}>
      <Loaded query={query}>
        {(task) => (
          <>
            <Facts
              facts={[
                [t.gantt.state, <Badge key="state" status={row.state} />],
                [names.name, task.name],
                [names.operation, task.operation],
                [t.gantt.stage, row.stage],
                [t.gantt.start, task.started_at && <Time key="start" at={task.started_at} />],
                [names.ended, task.ended_at && <Time key="end" at={task.ended_at} />],
                [names.attempt, task.attempt ?? null],
                [names.worker, task.agent_name],
                [t.gantt.error, row.error],
              ]}
            />
            <h3>{t.execution.parameters}</h3>
            <Properties of={task.parameters ?? {}} empty={t.none} />
          </>
        )}
      </Loaded>
    </Dialog>
  );
}
