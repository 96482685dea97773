/** Changes agents to the version that the manager serves. The set of agents is fixed when the dialog opens. */
import { useTenant } from '../../api/api-context';
import { useChange } from '../../api/use-change';
import styles from '../../deployments/bulk-start.module.css';
import { t } from '../../text/text';
import { Button } from '../../ui/button';
import { ConfirmDialog } from '../../ui/confirm-dialog';
import { Dialog } from '../../ui/dialog';
import { AGENTS, upgradeAgents } from './agents';

const SAMPLE = 8;

interface UpgradeDialogProps {
  /** Null: all agents of the tenant that have another version. */
  names: string[] | null;
  onClose: () => void;
  onDone: () => void;
}

export default function UpgradeDialog({ names, onClose, onDone }: UpgradeDialogProps) {
  const tenant = useTenant();
  const upgrade = useChange([AGENTS], (client) => upgradeAgents(client, tenant, names ?? []));
  const title = names ? t.agents.upgradeTitle(names.length) : t.agents.upgradeAllTitle;
  if (upgrade.data)
    return (
      <Dialog
        title={t.agents.upgradeAction}
        onClose={onDone}
        actions={
          <Button look="main" onClick={onDone}>
            {t.close}
          </Button>
        }
      >
        <p role="status">{t.agents.upgrading(upgrade.data.number_of_agents, upgrade.data.version)}</p>
      </Dialog>
    );
  return (
    <ConfirmDialog
      title={title}
      text={t.agents.upgradeText}
      action={t.agents.upgradeAction}
      mutation={upgrade}
      onClose={onClose}
      isDanger={false}
      // All agents of a tenant are many: its name is asked for.
      {...(names === null && { typed: tenant })}
    >
      {names && <Sample names={names} />}
    </ConfirmDialog>
  );
}

/** Names of what a dialog acts on. */
export const Sample = ({ names }: { names: readonly string[] }) => (
  <ul className={styles.sample}>
    {names.slice(0, SAMPLE).map((name) => (
      <li key={name}>{name}</li>
    ))}
    {names.length > SAMPLE && <li>{t.agents.andMore(names.length - SAMPLE)}</li>}
  </ul>
);
