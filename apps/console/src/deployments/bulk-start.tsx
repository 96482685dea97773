/**
 * Starts one workflow on several deployments. The set of deployments is fixed when the dialog opens. The user sees it and
 * confirms it by typing its size (R9).
 */
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi, useTenant } from '../api/api-context';
import { commonWorkflowsQuery } from '../api/deployments';
import { type EachResult, eachOf } from '../api/each-of';
import { startExecution } from '../api/executions';
import { problemOf } from '../api/problem';
import { t } from '../text/text';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { controlClass, Field } from '../ui/field';
import { Loaded } from '../ui/states';
import styles from './bulk-start.module.css';

const SAMPLE = 8;
/** Number of parallel requests. The manager queues executions beyond its capacity. */
const AT_ONCE = 4;

interface BulkStartProps {
  ids: string[];
  onClose: () => void;
  onDone: () => void;
}

export default function BulkStart({ ids, onClose, onDone }: BulkStartProps) {
  const { client } = useApi();
  const tenant = useTenant();
  const workflows = useQuery(commonWorkflowsQuery(client, tenant, ids));
  const [workflow, setWorkflow] = useState('');
  const [typed, setTyped] = useState('');
  const start = useMutation({
    mutationFn: (workflow_id: string) =>
      eachOf(ids, AT_ONCE, (deployment_id) =>
        startExecution(client, tenant, { deployment_id, workflow_id, queue: true }),
      ),
  });
  const isSure = typed.trim() === String(ids.length);
  const results = start.data;
  return (
    <Dialog
      title={t.bulk.title}
      onClose={results ? onDone : onClose}
      actions={
        results ? (
          <Button look="main" onClick={onDone}>
            {t.close}
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>{t.cancel}</Button>
            <Button
              look="main"
              disabled={!isSure || workflow === '' || start.isPending}
              onClick={() => start.mutate(workflow)}
            >
              {t.bulk.start(ids.length)}
            </Button>
          </>
        )
      }
    >
      {results ? (
        <Results results={results} />
      ) : (
        <>
          <div>
            <p>{t.bulk.frozen}</p>
            <ul className={styles.sample}>
              {ids.slice(0, SAMPLE).map((id) => (
                <li key={id}>{id}</li>
              ))}
              {ids.length > SAMPLE && <li>{t.bulk.andMore(ids.length - SAMPLE)}</li>}
            </ul>
          </div>
          <Loaded query={workflows}>
            {(names) =>
              names.length === 0 ? (
                <p>{t.bulk.noCommon}</p>
              ) : (
                <Field label={t.bulk.workflow}>
                  {(own) => (
                    <select
                      {...own}
                      className={controlClass}
                      value={workflow}
                      onChange={(event) => setWorkflow(event.currentTarget.value)}
                    >
                      <option value="" />
                      {names.map((name) => (
                        <option key={name} value={name}>
                          {name}
                        </option>
                      ))}
                    </select>
                  )}
                </Field>
              )
            }
          </Loaded>
          <Field label={t.bulk.confirm(ids.length)}>
            {(own) => (
              <input
                {...own}
                className={controlClass}
                inputMode="numeric"
                autoComplete="off"
                value={typed}
                onChange={(event) => setTyped(event.currentTarget.value)}
              />
            )}
          </Field>
        </>
      )}
    </Dialog>
  );
}

function Results({ results }: { results: EachResult[] }) {
  const refused = results.filter(({ error }) => error !== null);
  return (
    <div role="status">
      <p>{t.bulk.started(results.length - refused.length)}</p>
      {refused.length > 0 && (
        <>
          <p>{t.bulk.refused(refused.length)}</p>
          <ul className={styles.sample}>
            {refused.map(({ id, error }) => (
              <li key={id}>
                <strong>{id}</strong> {problemOf(error).message}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
