/** Makes the install script of an agent and shows it once: it holds a one-time token. */
import { useState } from 'react';
import { useTenant } from '../../api/api-context';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { Button } from '../../ui/button';
import { CopyButton } from '../../ui/copy-button';
import { Copyable } from '../../ui/copyable';
import copyable from '../../ui/copyable.module.css';
import { Dialog } from '../../ui/dialog';
import { FormDialog } from '../../ui/form-dialog';
import { TextField } from '../../ui/inputs';
import { PlainText } from '../../ui/plain-text';
import { Time } from '../../ui/time';
import { AGENTS, type Enrolment, enrolAgent } from './agents';

export default function ScriptDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const tenant = useTenant();
  const [network, setNetwork] = useState('');
  const enrol = useChange([AGENTS], (client) => enrolAgent(client, tenant, name, network.trim()));
  const close = (): void => {
    // Without a reset, the mutation would keep the token in memory for a while.
    enrol.reset();
    onClose();
  };
  if (enrol.data) return <Made enrolment={enrol.data} onClose={close} />;
  return (
    <FormDialog
      title={t.agents.scriptTitle(name)}
      submit={t.agents.scriptMake}
      mutation={enrol}
      onSubmit={() => enrol.mutate()}
      onClose={close}
    >
      {(errorOf) => (
        <>
          <p>{t.agents.scriptText}</p>
          <TextField
            label={t.agents.network}
            hint={t.agents.networkHint}
            value={network}
            onChange={setNetwork}
            error={errorOf('network')}
          />
        </>
      )}
    </FormDialog>
  );
}

/** For a host that has curl; the whole script is for all others. */
const commandOf = (url: string): string => `curl -fsSL '${url.replaceAll("'", '%27')}' | sudo sh`;

function Made({ enrolment, onClose }: { enrolment: Enrolment; onClose: () => void }) {
  const names = t.agents;
  return (
    <Dialog
      title={names.scriptTitle(enrolment.name)}
      onClose={onClose}
      isAlert
      actions={
        <Button look="main" onClick={onClose}>
          {t.copy.done}
        </Button>
      }
    >
      <p className={copyable.warning}>{t.copy.once}</p>
      <p>
        {names.scriptRun} {names.scriptUntil}: <Time at={enrolment.expires_at} />.
      </p>
      <div className={copyable.named}>
        <span className={copyable.name}>{names.scriptCommand}</span>
        <Copyable text={commandOf(enrolment.script_url)} name={names.scriptCommand} />
      </div>
      <div className={copyable.named}>
        <span className={copyable.name}>{names.scriptWhole}</span>
        <span>
          <CopyButton text={enrolment.script} name={names.scriptWhole} />
        </span>
        <details>
          <summary>{names.scriptShow}</summary>
          <PlainText text={enrolment.script} name={names.scriptWhole} />
        </details>
      </div>
    </Dialog>
  );
}
