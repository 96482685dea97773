import { useMay } from '../../api/api-context';
import styles from '../../deployments/selection-bar.module.css';
import { t } from '../../text/text';
import { Button } from '../../ui/button';
import type { AgentWorkflow } from './agents';

/** What the user may do with the selected agents. */
export function AgentSelection({
  count,
  onOpen,
  onClear,
}: {
  count: number;
  onOpen: (kind: 'upgrade' | AgentWorkflow) => void;
  onClear: () => void;
}) {
  const may = useMay();
  return (
    <div className={styles.bar}>
      <strong>{t.agents.selected(count)}</strong>
      {may('execution_start') && (
        <>
          <Button look="main" onClick={() => onOpen('validate_agents')}>
            {t.agents.validate}
          </Button>
          <Button onClick={() => onOpen('install_new_agents')}>{t.agents.install}</Button>
        </>
      )}
      {may('agent_replace_certs') && (
        <Button onClick={() => onOpen('upgrade')}>{t.agents.upgradeAction}</Button>
      )}
      <Button look="quiet" onClick={onClear}>
        {t.agents.selectNone}
      </Button>
    </div>
  );
}
